"""Databases that lose nothing: SQLite or PostgreSQL, made to behave alike, with migrations."""
