"""Where challenges are kept: the tables, how they came to be, blobs and the log.

`tables` has the tables, `migrations` how they came to be, `blobs` keeps files and arrays by their
content, `events` writes the log whose rows are chained. `reelscore.store` has the databases.
"""
