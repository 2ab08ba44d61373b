"""Scores made visible: tables in text, CSV, Markdown and LaTeX."""
