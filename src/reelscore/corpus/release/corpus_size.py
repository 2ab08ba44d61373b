"""How large a corpus is: the figures of the paper's tables for any corpus, and the published ones.

Words are Penn Treebank tokens without punctuation; the vocabulary counts stems (Snowball English,
as METEOR has them).
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from reelscore._packages import need
from reelscore.corpus.project_files import TimedSentence
from reelscore.corpus.release.clip_files import ExportedClip
from reelscore.report.plots.style import COLUMN_WIDTH, PALETTE, figure, save
from reelscore.text.tokens import tokenize

_TAGS = {"N": "nouns", "V": "verbs", "J": "adjectives", "R": "adverbs"}


@dataclass(frozen=True)
class CorpusSize:
    """The figures of one source and set."""

    films: int  # how many films have clips in it; 0 if clips do not say their film
    clips: int
    sentences: int
    words: int  # how many words, without punctuation
    # Seconds of a clip on average, as viewers see it; None if times are not known.
    mean_length: float | None
    mean_raw: float | None  # the same, as the sentence lasts
    hours: float | None  # how long all clips are together, as viewers see them
    hours_raw: float | None  # the same, as the sentences last
    vocabulary: int
    # Distinct stems of nouns, verbs, adjectives and adverbs; None without a tagger.
    parts: dict[str, int] | None = None


def corpus_size(clips: Sequence[ExportedClip], *, tag: bool = False) -> CorpusSize:
    """Count the films, clips, sentences, words and stems of clips.

    Stems are counted by part of speech too where `tag` is given, with reelscore's parser.
    """
    texts = [sentence for clip in clips for sentence in clip.sentences]
    words = [word for text in tokenize(texts) for word in text.split()]
    stem = _stemmer()
    lengths = _total([clip.expanded_end - clip.expanded_start for clip in clips])
    raw_lengths = _total([clip.end - clip.start for clip in clips])
    return CorpusSize(
        films=len({clip.film for clip in clips if clip.film}),
        clips=len(clips),
        sentences=len(texts),
        words=len(words),
        mean_length=lengths[0],
        mean_raw=raw_lengths[0],
        hours=lengths[1],
        hours_raw=raw_lengths[1],
        vocabulary=len({stem(word) for word in set(words)}),
        parts=_parts_of_speech(texts) if tag else None,
    )


def published_figures() -> list[list[str]]:
    """Return what the paper says of itself and of the corpora before it: of what, what, and where.

    >>> published_figures()[-1]
    ['Tables 1 and 2, all cells', 'not in our copy', '3.4']
    """
    file = Path(__file__).with_name("published_figures.csv")
    with file.open(encoding="utf-8", newline="") as rows:
        return list(csv.reader(rows))[1:]


def _total(lengths: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the mean in seconds and the sum in hours, where all lengths are known."""
    total = sum(lengths)
    if not lengths or math.isnan(total):
        return None, None
    return round(total / len(lengths), 3), round(total / 3600, 3)


@cache
def _stemmer() -> Callable[[str], str]:
    package = need("snowballstemmer", "reelscore[corpus]", "Counting stems needs")
    stem: Callable[[str], str] = package.stemmer("english").stemWord
    return stem


def _parts_of_speech(texts: Sequence[str]) -> dict[str, int]:
    from reelscore.text.parser.sentences import trees  # its libraries take a moment to load

    stem = _stemmer()
    stems: dict[str, set[str]] = {name: set() for name in _TAGS.values()}
    for sentences in trees(texts):
        for token in (token for tree in sentences for token in tree.tokens):
            name = _TAGS.get(token.tag[:1]) if token.tag != "RP" else None
            if name:
                stems[name].add(stem(token.text.lower()))
    return {name: len(members) for name, members in stems.items()}


@dataclass(frozen=True)
class ReviewSize:
    """What review did to the sentences of one source."""

    sentences: int  # how many there are, the rejected ones included
    accepted: float  # the share that was accepted or edited
    rejected: float  # the share that was rejected
    reasons: dict[str, int]  # how many were rejected for each reason
    # The share of words lost; the paper lost about 19 % of scripts, under 4 % of AD.
    words_lost: float


def review_size(sentences: Iterable[TimedSentence]) -> dict[str, ReviewSize]:
    """Return what review did to the sentences of each source."""
    sources: dict[str, list[TimedSentence]] = {}
    for sentence in sentences:
        sources.setdefault(sentence.origin, []).append(sentence)
    sizes = {}
    for source, members in sources.items():
        rejected = [each for each in members if each.state == "rejected"]
        accepted = sum(each.state in ("accepted", "edited") for each in members)
        counts = [len(text.split()) for text in tokenize([each.text for each in members])]
        lost = sum(
            count for count, each in zip(counts, members, strict=True) if each.state == "rejected"
        )
        reasons = Counter((each.flags or ["no reason given"])[-1] for each in rejected)
        sizes[source] = ReviewSize(
            sentences=len(members),
            accepted=round(accepted / len(members), 4),
            rejected=round(len(rejected) / len(members), 4),
            reasons=dict(reasons.most_common()),
            words_lost=round(lost / (sum(counts) or 1), 4),
        )
    return sizes


_LONGEST = (20.0, 40.0)  # seconds and words: what is longer counts to the last bar


def draw_lengths(groups: Mapping[str, Sequence[ExportedClip]], path: str | Path) -> None:
    """Draw the share of clips by seconds, and of sentences by words, a line for each group."""
    with figure(1, 2, width=2 * COLUMN_WIDTH, height=2.2) as (drawing, panels):
        for k, (name, clips) in enumerate(groups.items()):
            lengths_known = (clip.expanded_end - clip.expanded_start for clip in clips)
            seconds = [length for length in lengths_known if length == length]  # NaN: not known
            words = [len(text.split()) for clip in clips for text in clip.sentences]
            for panel, lengths, longest, step in (
                (panels[0], seconds, _LONGEST[0], 1.0),
                (panels[1], words, _LONGEST[1], 2.0),
            ):
                edges = np.arange(0.0, longest + 2 * step, step)
                counts, _ = np.histogram(np.minimum(lengths, longest), edges)
                shares = counts / max(1, len(lengths))
                panel.stairs(shares, edges, color=PALETTE[k % len(PALETTE)], label=name)
        for panel, label, longest in zip(panels, ("seconds", "words"), _LONGEST, strict=True):
            panel.set_xlabel(f"{label} ({longest:.0f}: or more)")
            panel.set_ylim(bottom=0.0)
        panels[0].set_ylabel("share of clips")
        panels[1].set_ylabel("share of sentences")
        panels[1].legend(loc="upper right")
        save(drawing, path)
