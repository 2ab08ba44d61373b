"""Scores made visible: tables, figures, timelines, and pages to explore."""
