"""The first tables; nothing is older, and what is newer begins with `tables`."""

revision = "1"
down_revision = None
