"""Tables as text, CSV, Markdown and LaTeX."""
