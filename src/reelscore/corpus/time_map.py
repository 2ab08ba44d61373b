"""The map between the times of a described track and those of the film."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Span = tuple[float, float]

_SMALLEST_BREAK = 0.01  # seconds


@dataclass(frozen=True)
class Piece:
    """A stretch of the described track that shows a stretch of the film.

    A time of the track is the film's `film_start + (ad - ad_start) * rate`.

    >>> Piece(ad_start=10.0, ad_end=20.0, film_start=12.0, rate=1.0).film_end
    22.0
    """

    ad_start: float
    ad_end: float
    film_start: float
    rate: float

    @property
    def film_end(self) -> float:
        """The time of the film at which the stretch ends."""
        return self.film_start + (self.ad_end - self.ad_start) * self.rate


@dataclass(frozen=True)
class Break:
    """A place where the track and the film do not go on together.

    Attributes:
        kind: `cut`: the film has something that the track lacks; `insertion`: the track has
            something that the film lacks.
        ad: When, in the track.
        film: When, in the film.
        seconds: How long it is, in its own time.
    """

    kind: Literal["cut", "insertion"]
    ad: float
    film: float
    seconds: float


@dataclass(frozen=True)
class TimeMap:
    """Pieces of the described track in their order, with gaps where the film has no such sound.

    >>> map = TimeMap((Piece(0, 10, 5, 1.0), Piece(12, 20, 15, 1.0)))
    >>> map.to_film(4.0), map.to_film(11.0), map.to_ad(16.0)
    (9.0, None, 13.0)
    """

    pieces: tuple[Piece, ...]

    def to_film(self, ad: float) -> float | None:
        """Return the film's time of a time of the track; None where the film has no such sound."""
        place = bisect_right(self.pieces, ad, key=lambda piece: piece.ad_start) - 1
        if place < 0 or ad > self.pieces[place].ad_end:
            return None
        piece = self.pieces[place]
        return piece.film_start + (ad - piece.ad_start) * piece.rate

    def to_ad(self, film: float) -> float | None:
        """Return the track's time of a time of the film; None where the track lacks it."""
        for piece in self.pieces:
            if piece.film_start <= film <= piece.film_end:
                return piece.ad_start + (film - piece.film_start) / piece.rate
        return None

    def ad_span(self, start: float, end: float) -> tuple[float, float]:
        """Return the track's times of a stretch of the film; its ends may lie in a cut.

        >>> TimeMap((Piece(0.0, 10.0, 5.0, 1.0),)).ad_span(4.0, 8.0)
        (0.0, 3.0)
        """
        swapped = [Piece(p.film_start, p.film_end, p.ad_start, 1 / p.rate) for p in self.pieces]
        return TimeMap(tuple(swapped)).film_span(start, end) or (0.0, 0.0)

    def film_span(self, start: float, end: float) -> tuple[float, float] | None:
        """Return the film's times of a stretch of the track; None where the film has none of it.

        >>> TimeMap((Piece(0.0, 10.0, 5.0, 1.0),)).film_span(8.0, 12.0)
        (13.0, 15.0)
        """
        pieces = [p for p in self.pieces if p.ad_end > start and p.ad_start < end]
        if not pieces:
            return None
        first, last = pieces[0], pieces[-1]
        return (
            first.film_start + (max(start, first.ad_start) - first.ad_start) * first.rate,
            last.film_start + (min(end, last.ad_end) - last.ad_start) * last.rate,
        )

    def breaks(self, ad_seconds: float, film_seconds: float) -> list[Break]:
        """List where the track and the film part, the ends included.

        >>> TimeMap((Piece(0.0, 10.0, 5.0, 1.0), Piece(12.0, 20.0, 15.0, 1.0))).breaks(20.0, 23.0)
        [Break(kind='cut', ad=0.0, film=0.0, seconds=5.0),
         Break(kind='insertion', ad=10.0, film=15.0, seconds=2.0)]
        """
        breaks: list[Break] = []
        ad = film = 0.0
        ends = [(piece.ad_start, piece.film_start, piece) for piece in self.pieces]
        for ad_start, film_start, piece in [*ends, (ad_seconds, film_seconds, None)]:
            if ad_start - ad > _SMALLEST_BREAK:
                breaks.append(Break("insertion", ad, film, ad_start - ad))
            if film_start - film > _SMALLEST_BREAK:
                breaks.append(Break("cut", ad_start, film, film_start - film))
            if piece:
                ad, film = piece.ad_end, piece.film_end
        return breaks


def within_film(pieces: Iterable[Piece], ad_seconds: float, film_seconds: float) -> TimeMap:
    """Cut pieces to the lengths of the track and the film, so that no time lies outside.

    >>> within_film([Piece(0, 10, -2.0, 1.0)], 10.0, 5.0).pieces
    (Piece(ad_start=2.0, ad_end=7.0, film_start=0.0, rate=1.0),)
    """
    kept = []
    for piece in pieces:
        start = max(piece.ad_start, 0.0, piece.ad_start - piece.film_start / piece.rate)
        end_of_film = piece.ad_start + (film_seconds - piece.film_start) / piece.rate
        end = min(piece.ad_end, ad_seconds, end_of_film)
        if end > start:
            film_start = max(0.0, piece.film_start + (start - piece.ad_start) * piece.rate)
            kept.append(Piece(start, end, film_start, piece.rate))
    return TimeMap(tuple(kept))


def joined_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap.

    >>> joined_spans([(5.0, 6.0), (1.0, 3.0), (2.0, 4.0)])
    [(1.0, 4.0), (5.0, 6.0)]
    """
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def shared_seconds(span: Span, others: Iterable[Span]) -> float:
    """Sum the time that a span shares with others, which do not overlap.

    >>> shared_seconds((1.0, 4.0), [(0.0, 2.0), (3.5, 9.0)])
    1.5
    """
    return sum(max(0.0, min(span[1], end) - max(span[0], start)) for start, end in others)


def gaps_between(spans: Iterable[Span]) -> list[Span]:
    """Return the time before, between and after spans; the first and the last have no end.

    >>> gaps_between([(1.0, 3.0), (5.0, 6.0)])
    [(-inf, 1.0), (3.0, 5.0), (6.0, inf)]
    """
    joined = joined_spans(spans)
    edges = [float("-inf"), *(time for span in joined for time in span), float("inf")]
    return list(zip(edges[::2], edges[1::2], strict=True))


def clock(seconds: float) -> str:
    """Write a time as people read it.

    >>> clock(3725.04), clock(59.96)
    ('1:02:05.0', '1:00.0')
    """
    tenths = round(seconds * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    end = f"{rest // 10:02}.{rest % 10}"
    return f"{hours}:{minutes:02}:{end}" if hours else f"{minutes}:{end}"
