"""Where a campaign is kept: one SQLite file, or a PostgreSQL database.

`schema` has the tables, `migrations` how they came to be; `reelscore.store` has the databases. Over
them, `campaigns` keeps what was settled, `assignments` takes HITs in and gives them to raters,
`answers` takes what they say, `reviews` and `decisions` keep what organisers decide, `queries`
gives everything back. `imports` takes judgments made elsewhere; `export` and `restore` carry a
whole campaign in plain files. What comes in bulk is staged in temporary tables, checked there and
moved as a whole.
"""
