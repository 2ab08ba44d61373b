"""The rating pages: raters judge captions in a browser, organisers watch over them.

`app.create_app` puts everything together. `raters` has the pages of raters, `organisers` those of
organisers, `store` the tables of both beside the campaign's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.web.app import create_app
    from reelscore.web.settings import Settings

__all__ = [
    "Settings",
    "create_app",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "web.app": "create_app",
        "web.settings": "Settings",
    },
)
