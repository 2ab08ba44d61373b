"""How the tables of older databases come to be those of `tables`, one file for each change."""
