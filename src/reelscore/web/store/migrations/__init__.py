"""How the tables came to be, one file for each change, applied by Alembic."""
