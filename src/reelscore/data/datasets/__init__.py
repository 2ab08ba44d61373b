"""Data sets with human judgments: one file each, read from a local copy."""
