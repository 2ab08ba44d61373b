"""Where a campaign is kept: one SQLite file, or a PostgreSQL database.

`schema` has the tables, `migrations` how they came to be, `records` what is handed out of them;
`reelscore.store` has the databases. Over them, `campaigns` keeps a campaign's own row and its log,
`assignments` gives HITs to raters, `answers` takes what they say, `decisions` does what organisers
decide, `queries` reads a campaign as a whole. `imports` takes judgments made elsewhere; `files`
carries a whole campaign in plain files, whose `lines` are the format. What comes in bulk is staged
in temporary tables, checked there and moved as a whole: `bulk`.
"""
