"""Stories made from real ones, for the experiments of the SODA papers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore import _native
from reelscore.data.stories import FloatArray, Story
from reelscore.metrics.self_bleu import SelfBleu
from reelscore.metrics.sent_bleu import smoothed_bleu
from reelscore.stories.protocol import Protocol
from reelscore.stories.sentence_scores import SentenceScore, TextPool
from reelscore.stories.soda import merged
from reelscore.text.tokens import Tokenizer, tokenize
from reelscore.text.words import Captions, pack

_KEPT = 0.7  # the overlap with the reference that a varied segment exceeds


def some_of(story: Story, count: int, rng: np.random.Generator) -> Story:
    """Draw captions without repetition; all where there are no more.

    From equal generators, a smaller draw is a part of a larger one.

    >>> story = Story(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]), ("a", "b", "c"))
    >>> len(some_of(story, 2, np.random.default_rng(0)))
    2
    """
    if not len(story):
        return story
    order = np.array(story.time_order())[rng.permutation(len(story))]
    return _taken(story, order[:count].tolist())


def varied(story: Story, rng: np.random.Generator) -> FloatArray:
    """Move the ends of each segment at random, keeping an IoU with it above 0.7.

    Segments stay inside the video; those without length stay as they are.

    >>> from reelscore.stories.overlaps import iou
    >>> story = Story(np.array([[0.0, 10.0]]), ("a",))
    >>> float(iou(varied(story, np.random.default_rng(0)), story.segments)[0, 0]) > 0.7
    True
    """
    given = story.segments
    latest = max(story.duration or 0.0, float(given.max(initial=0.0)))
    segments: FloatArray = given.copy()
    open_ones = np.flatnonzero(given[:, 1] > given[:, 0])
    while len(open_ones):
        here = given[open_ones]
        reach = (here[:, 1] - here[:, 0]) * (1 / _KEPT - 1)
        moved = here + rng.uniform(-1, 1, here.shape) * reach[:, np.newaxis]
        moved = np.clip(moved, min(0.0, float(given.min())), latest)
        inside = np.minimum(moved[:, 1], here[:, 1]) - np.maximum(moved[:, 0], here[:, 0])
        around = np.maximum(moved[:, 1], here[:, 1]) - np.minimum(moved[:, 0], here[:, 0])
        good = inside > _KEPT * around
        segments[open_ones[good]] = moved[good]
        open_ones = open_ones[~good]
    return segments


def swapped(sentences: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Exchange one pair of neighbours, drawn at random.

    >>> swapped(("a", "b"), np.random.default_rng(0))
    ('b', 'a')
    """
    order = list(sentences)
    if len(order) > 1:
        k = int(rng.integers(len(order) - 1))
        order[k], order[k + 1] = order[k + 1], order[k]
    return tuple(order)


def shuffled(sentences: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Put sentences into a random order.

    >>> sorted(shuffled(("a", "b", "c"), np.random.default_rng(0)))
    ['a', 'b', 'c']
    """
    return tuple(sentences[int(k)] for k in rng.permutation(len(sentences)))


def one_story(truth: Sequence[Story]) -> Story:
    """The captions of all annotators of a video as one story, in time order.

    >>> late, early = (Story(np.array([[t, t + 1.0]]), (text,)) for t, text in [(5.0, "b"),
    ...                                                                          (0.0, "a")])
    >>> one_story([late, early]).sentences
    ('a', 'b')
    """
    return merged(truth).in_time_order()


def _taken(story: Story, places: Sequence[int]) -> Story:
    return Story(
        story.segments[list(places)], tuple(story.sentences[k] for k in places), story.duration
    )


Sentences = tuple[str, ...]


def oracle_captions(
    candidates: Sequence[Story], truth: Sequence[Story], protocol: Protocol, threads: int = 1
) -> tuple[list[Sentences], list[float]]:
    """Find the best sentence for every reference, wherever in the video it stands.

    A sentence may be the best for several references; of equally good ones the earliest is taken.

    >>> times = np.array([[0.0, 5.0], [5.0, 9.0]])
    >>> ours = Story(times, ("he jumps high", "a man runs"))
    >>> truth = Story(times, ("a man is running", "he jumps"))
    >>> oracle_captions([ours], [truth], Protocol())[0]
    [('a man runs', 'he jumps high')]
    """
    sentences = (sentence for story in truth for sentence in story.sentences)
    f = SentenceScore(protocol, sentences, threads)
    oracle: list[Sentences] = []
    scores: list[float] = []
    for story, wanted in zip(candidates, truth, strict=True):
        if not len(story):
            oracle.append(())
            scores += [0.0] * len(wanted)
            continue
        ours = story.in_time_order().sentences
        pool = TextPool()
        numbers = [pool.add(f.texts(side)) for side in (ours, wanted.sentences)]
        rows, columns = np.indices((len(ours), len(wanted))).reshape(2, -1)
        values = f.of_pairs(f.statistics(pool), numbers[0][rows], numbers[1][columns])
        table = values.reshape(len(ours), len(wanted))
        oracle.append(tuple(ours[int(k)] for k in table.argmax(axis=0)))
        scores += table.max(axis=0).tolist()
    return oracle, scores


def self_bleu_of(
    stories: Sequence[Sequence[str]], tokenizer: Tokenizer = "ptb", threads: int = 1
) -> tuple[FloatArray, float]:
    """Self-BLEU of each story with two captions or more, and over the captions of all of them.

    >>> inside, over_all = self_bleu_of([["a man runs in a park"] * 2, ["two dogs", "a cat"]])
    >>> inside.round(2).tolist(), round(over_all, 2)
    ([1.0, 0.0], 0.54)
    """
    several = [list(story) for story in stories if len(story) > 1]
    if not several:
        return np.zeros(0), 0.0
    sentences = [sentence for story in several for sentence in story]
    captions = Captions(pack(tokenize(sentences, tokenizer, threads=threads)))
    by_story = np.cumsum([0, *map(len, several)], dtype=np.int64)

    def means(offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
        n = SelfBleu().n
        counts = _native.self_bleu_statistics(captions.words, offsets, n, threads)
        totals = np.add.reduceat(smoothed_bleu(counts, n, "epsilon", 0.1), offsets[:-1])
        each: FloatArray = totals / np.diff(offsets)
        return each

    return means(by_story), float(means(by_story[[0, -1]])[0])
