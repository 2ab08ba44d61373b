"""The app of the review page: for one person at this machine, who has its address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import msgspec
from anyio import to_thread
from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from reelscore._records import resolved
from reelscore._version import __version__
from reelscore.corpus.review.actions import REASONS
from reelscore.corpus.review.pictures import peaks, spectrogram, still
from reelscore.corpus.review.reviewed_films import WINDOW, ReviewFilms, ReviewRequest
from reelscore.corpus.review.sounds import Voice
from reelscore.corpus.sound.audio import wav_file
from reelscore.errors import ReelscoreError, RefusedError
from reelscore.web.requests import Gate
from reelscore.web.settings import Settings, logger
from reelscore.web.site import page_templates, static_files

Seconds = Annotated[float, Query(ge=0, le=360_000, allow_inf_nan=False)]

_THREADS = 4  # for one person; each keeps memory for the sound it works on
_KEPT = {"cache-control": "private, max-age=300"}  # sounds and pictures: the browser may keep them
_KEYS = (
    ("Space", "play or pause the passage, from half a second before it"),
    ("F A R", "hear the film, the described track, the residual"),
    ("J K", "next, previous passage"),
    ("Enter", "accept"),
    ("X", "reject"),
    ("1 – 4", f"reject because: {', '.join(REASONS[:-1])}, or {REASONS[-1]}"),
    ("← →", "move the end by 50 ms; with Shift by 10 ms; with Alt the start instead"),
    (", .", "move the cursor by 0.1 s; with Shift by 1 s"),
    ("[ ]", "select from the cursor, to the cursor"),
    ("S", "split at the cursor"),
    ("M", "merge with the next passage"),
    ("N", "new segment from the selection"),
    ("E", "edit the words"),
    ("P", "names: replace a word, or mark it as no name"),
    ("U", "undo the last decision"),
    ("?", "these keys"),
)


@dataclass(frozen=True)
class Review:
    """What a review server is told."""

    films: ReviewFilms
    token: str  # the part of the address that nobody can guess
    url: str = "http://127.0.0.1:8765"  # the address without it
    read_only: bool = False  # whether nothing may be decided

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"{self.url}/{self.token}/"


def create_review_app(review: Review) -> FastAPI:
    """Make the app of a review."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        yield

    app = FastAPI(
        title="reelscore review", version=__version__, lifespan=lifespan, openapi_url=None
    )
    app.include_router(_router(review), prefix=f"/{review.token}")
    app.mount("/static", static_files(), name="static")
    for error in (HTTPException, RequestValidationError, ReelscoreError, Exception):
        app.add_exception_handler(error, _explain)
    app.add_middleware(Gate, settings=Settings("", url=review.url), uploads={})
    return app


def _router(review: Review) -> APIRouter:
    """Put the page and its data together; all of it lies below the token."""
    router = APIRouter()
    films = review.films
    template = page_templates("").get_template("review/page.html")

    @router.get("/")
    def page(film: str = "") -> HTMLResponse:
        """Show the page of a film, the first if none is named."""
        chosen = films.film(film or films.names[0]).id
        titles = {name: films.project.film(name).title or name for name in films.names}
        shown = template.render(
            corpus=films.project.name,
            films=titles,
            film=chosen,
            reasons=REASONS,
            keys=_KEYS,
            read_only=review.read_only,
            window=WINDOW,
        )
        return HTMLResponse(shown)

    @router.get("/films/{film}/state")
    def state(film: str) -> Response:
        """Return the whole film."""
        return _json(films.film(film).state())

    @router.get("/films/{film}/window")
    def window(film: str, start: Seconds) -> Response:
        """Return the waveforms and subtitles of 30 seconds."""
        shown, end = films.film(film), start + WINDOW
        waves = {
            voice: peaks(shown.sounds.read(voice, start, end))
            for voice in shown.sounds.voices
            if voice != "residual"
        }
        return _json({"waves": waves, "cues": shown.cues(start, end)}, _KEPT)

    @router.get("/films/{film}/spectrogram")
    def picture(film: str, start: Seconds) -> Response:
        """Return the spectrogram of 30 seconds: of the described track, else of the film."""
        sounds = films.film(film).sounds
        voice: Voice = "ad" if "ad" in sounds.voices else "film"
        drawn = spectrogram(sounds.read(voice, start, start + WINDOW))
        return Response(drawn, 200, _KEPT, "image/png")

    @router.get("/films/{film}/still")
    def picture_of_film(film: str, at: Seconds) -> Response:
        """Return the picture of the video at a time."""
        video = films.film(film).video
        content = None if video is None else still(video, at)
        if content is None:
            raise HTTPException(404, "There is no video here.")
        return Response(content, 200, _KEPT, "image/png")

    @router.get("/films/{film}/sound/{voice}")
    def sound(film: str, voice: Voice, start: Seconds, end: Seconds) -> Response:
        """Return a short piece of sound, in the film's time."""
        samples = films.film(film).sounds.read(voice, start, end)
        return Response(wav_file(samples), 200, _KEPT, "audio/wav")

    @router.post("/films/{film}/decisions")
    async def decide(film: str, request: Request) -> Response:
        """Write a decision down; the answer comes when it is safe on the disk."""
        if review.read_only:
            raise HTTPException(403, "This review is read-only.")
        try:
            wanted = msgspec.json.decode(await request.body(), type=resolved(ReviewRequest))
        except msgspec.DecodeError as error:
            raise HTTPException(422, f"Not a decision: {error}.") from None
        return _json(await run_in_threadpool(lambda: films.film(film).decide(wanted)))

    return router


def _json(content: object, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), 200, headers, "application/json")


def _explain(request: Request, error: Exception) -> JSONResponse:
    """Return what went wrong."""
    status, text = 500, "Something is wrong with the server; see where it was started."
    if isinstance(error, HTTPException):
        status, text = error.status_code, str(error.detail)
    elif isinstance(error, RequestValidationError):
        fields = sorted({".".join(map(str, each["loc"][1:])) for each in error.errors()})
        status, text = 422, f"Missing or not valid: {', '.join(fields)}."
    elif isinstance(error, RefusedError):
        status, text = 409, str(error)
    elif isinstance(error, ReelscoreError):
        status, text = 422, str(error)
    elif isinstance(error, OSError):
        status, text = 503, f"Nothing was stored or read: {error.strerror}."
    else:
        logger.error("failed", exc_info=error)
    return JSONResponse({"message": text}, status)
