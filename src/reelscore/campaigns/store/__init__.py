"""Where a campaign is kept: one SQLite file, or a PostgreSQL database.

`schema` has the tables, `migrations` how they came to be, `records` what is handed out of them;
`reelscore.store` has the databases. Over them, `campaigns` keeps a campaign's own row and its log,
`hits` takes HITs in and counts them, `assignments` gives them to raters, `answers` takes what they
say and gives it back, `decisions` does what organisers decide. `imports` takes judgments made
elsewhere; `files` carries a whole campaign in plain files, and `lines` is their format. What comes
in bulk is staged in temporary tables, checked there and moved as a whole.
"""
