"""Metrics: one file each, computed by `reelscore.score`."""
