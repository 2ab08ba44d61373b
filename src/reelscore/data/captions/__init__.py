"""Candidates and references: from files or Python programs, paired by item."""
