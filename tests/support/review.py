"""A project to review, and its page on a server in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from reelscore.corpus.pipeline import ALIGN, SEGMENT, SUBTITLES, TRANSCRIPT
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import (
    AlignedTracks,
    AudioTrack,
    Cue,
    CueLine,
    NarrationSegments,
    Segment,
    Subtitles,
    TimedSentence,
    Transcript,
    segment_id,
)
from reelscore.corpus.review.review_app import Review, create_review_app
from reelscore.corpus.review.reviewed_films import ReviewFilms
from reelscore.corpus.time_map import Piece
from support.film_sound import made_pair
from support.server import free_port, wait_for

LEAD = 0.73  # the described track begins so much later
TEXTS = ("Blue Door Pictures presents.", "Anna opens the door. Rain falls.", "Rose nods.")
CONFIDENCE = (0.9, 0.3, 0.8, 0.6)


def review_project(folder: Path) -> Project:
    """A film of 40 seconds with four segments; the first three have words, and one cue follows."""
    pair = made_pair(folder, lead=LEAD)
    project = Project.new(folder / "films", "Films")
    project.add_film(Film("one", title="One", film=str(pair.film), ad=str(pair.ad)))
    project.add_film(Film("two", title="Two"))
    piece = Piece(LEAD, 40.0 + LEAD, 0.0, 1.0)
    film, ad = AudioTrack(str(pair.film), 0, seconds=40.0), AudioTrack(str(pair.ad), 0)
    project.write(ALIGN, AlignedTracks(film=film, ad=ad, map=(piece,)), "one")
    segments = [
        Segment(segment_id(start), start, end, start + LEAD, end + LEAD, -8.0, confidence)
        for (start, end), confidence in zip(pair.narration, CONFIDENCE, strict=True)
    ]
    project.write(SEGMENT, NarrationSegments(segments=tuple(segments)), "one")
    sentences = [
        TimedSentence("t" + each.id[1:], text, each.start, each.end, "ad", each.id)
        for each, text in zip(segments, TEXTS, strict=False)
    ]
    project.write(TRANSCRIPT, Transcript(sentences=tuple(sentences)), "one")
    cue = Cue(10.0, 12.0, (CueLine(None, "Who is there?"),))
    project.write(SUBTITLES, Subtitles(cues=(cue,)), "one")
    return project


@contextmanager
def serve_review(project: Project, **settings: object) -> Iterator[Review]:
    """Serve the page."""
    port = free_port()
    films = ReviewFilms(project, list(project.films), "ada")
    review = Review(films, "t" * 32, f"http://127.0.0.1:{port}", **settings)
    config = uvicorn.Config(create_review_app(review), port=port, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(review.address)
    try:
        yield review
    finally:
        server.should_exit = True
        thread.join(60)
