"""Captions damaged by rule, so that a metric must score them lower, and candidates that cheat."""
