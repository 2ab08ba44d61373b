"""Scripts of films as elements: Fountain, Final Draft and indented plain text."""
