"""The rating pages: raters judge captions in a browser, organisers watch over them.

`app.create_app` puts everything together. `raters` has the pages of raters, `organisers` those of
organisers, `store` the tables of both beside the campaign's own.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
