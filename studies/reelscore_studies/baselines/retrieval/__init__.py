"""Captions that are taken from the training captions."""
