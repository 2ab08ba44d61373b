"""How the tables of older databases come to be those of `schema`, one file for each change."""
