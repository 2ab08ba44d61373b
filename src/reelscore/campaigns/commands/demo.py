"""``reelscore demo campaign``: a campaign on the embedded example, with videos drawn for it."""

from __future__ import annotations

from pathlib import Path

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.errors import MissingExtraError
from reelscore.examples import clips
from reelscore.examples.drawn_videos import draw_videos
from reelscore.web.settings import Settings, load_secret

ID = "demo"
_LAYOUT = "systems:15 humans:10 degraded_humans:10 repeated_systems:5"


def demo_settings(folder: Path, url: str) -> Settings:
    """Make the campaign in a folder, and return how to serve it."""
    systems, references = clips()
    systems.pop("human")
    people = {item: texts[0] for item, texts in references.items()}
    pages: dict[str, object] = {"title": "Rate video captions (demo)", "open": True}
    videos: Path | None = folder / "videos"
    try:
        (folder / "videos").mkdir()
        draw_videos(folder / "videos", people)
    except MissingExtraError:
        videos = None
        pages["contexts"] = {
            item: f"In the video: {texts[1]}" for item, texts in references.items()
        }
    database = str(folder / "demo.db")
    design = Design(layout=_LAYOUT, seed=1)
    with Campaign.from_plan(database, "Demo", design, make_hits(design, systems, people)) as made:
        assert made.id == ID
        made.change_settings({"pages": pages})
        made.set_state("open", actor="demo")
    click.echo(f"Raters: {url}/join/{ID}")
    return Settings(database, secret=load_secret(folder / "secret"), url=url, videos=videos)
