"""How the tables of older databases come to be those of `tables`, one file for each change.

A new change is a new file in `versions`: give it the next `revision`, the last one as
`down_revision`, and bring `tables` to where it leads; a test compares the two. A new database is
made of `tables` at once.
"""
