"""The first tables; nothing is older, and what is newer begins with `schema`."""

revision = "1"
down_revision = None
