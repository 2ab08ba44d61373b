"""Agreement with people as tables, figures and sections of a report."""
