"""Parsed captions to look at: in the terminal, and as a page with arcs and roles."""
