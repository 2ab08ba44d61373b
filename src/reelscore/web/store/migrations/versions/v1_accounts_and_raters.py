"""The first tables; nothing is older. New databases are made of those in `schema` at once."""

revision = "1"
down_revision = None
