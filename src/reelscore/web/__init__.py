"""The rating pages: raters judge captions in a browser, organisers watch over them.

`app.create_app` puts everything together. `judge` has the pages of raters, `organise` those of
organisers, `store` the tables of both beside the campaign's own.
"""
