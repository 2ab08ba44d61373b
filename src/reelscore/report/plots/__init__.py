"""Figures, in one look, as files."""

FORMATS = ("pdf", "svg", "png")
