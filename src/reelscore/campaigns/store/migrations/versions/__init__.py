"""The changes, oldest first by name."""
