"""The base of a server: settings, accounts and sessions, security, videos, and pages as such.

`app.create_app` puts a server together: the base, and what each wing adds to it
(`site.WingPages`), found by the table in `reelscore.wings`.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
