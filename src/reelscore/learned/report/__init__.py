"""Learned models as tables."""
