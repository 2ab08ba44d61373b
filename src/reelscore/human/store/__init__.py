"""Where a campaign is kept: one SQLite file, or a PostgreSQL database.

`schema` has the tables, `migrations` how they came to be, `connecting` the two databases. Over
them, `campaigns` keeps what was settled, `planning` puts HITs in, `claiming` gives them to raters,
`answering` takes the answers, `deciding` keeps the log, `reading` gives everything back.
`appending` takes judgments made elsewhere; `exporting` and `restoring` carry a whole campaign in
plain files. What comes in bulk is staged in temporary tables, checked there and moved as a whole.
"""
