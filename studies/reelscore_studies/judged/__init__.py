"""Sets of judged captions that papers about metrics report, and the tables of these papers."""
