"""The paper's study: rows of captioners, their runs with several seeds, and the tables of them."""
