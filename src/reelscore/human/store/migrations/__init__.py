"""How the tables came to be, one file for each change, applied by Alembic.

A new change is a new file in `versions`: give it the next `revision`, the last one as
`down_revision`, and bring `schema` to where it leads; a test compares the two.
"""
