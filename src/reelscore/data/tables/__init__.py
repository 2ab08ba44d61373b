"""Score tables: what they hold, how scores are read, and their files."""
