"""Figures, in one look, as files."""
