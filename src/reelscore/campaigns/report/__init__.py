"""Results of campaigns as tables, figures and a page."""
