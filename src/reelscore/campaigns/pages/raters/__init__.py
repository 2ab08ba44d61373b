"""Pages of raters: how they come in, what they learn, the tasks, and the end."""
