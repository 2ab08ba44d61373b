"""Stories made from real ones, for the experiments of the SODA papers.

Every draw depends on the seed, the repetition and the video's id alone, so that results do not
depend on the order of a file, nor on which other videos are in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from reelscore.data.stories import FloatArray, Stories, Story
from reelscore.stories.soda import merged

_KEPT = 0.7  # the overlap with the reference that a varied segment exceeds


def generator(seed: int, repetition: int, video: str) -> np.random.Generator:
    """Random numbers for one video in one repetition.

    >>> int(generator(1, 0, "v_1").integers(100)) == int(generator(1, 0, "v_1").integers(100))
    True
    """
    return np.random.default_rng([seed, repetition, zlib.crc32(video.encode())])


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

    >>> from reelscore.stories import iou
    >>> story = Story(np.array([[0.0, 10.0]]), ("a",))
    >>> float(iou(varied(story, np.random.default_rng(0)), story.segments)[0, 0]) > 0.7
    True
    """
    given = story.segments
    latest = max(story.duration or 0.0, float(given.max(initial=0.0)))
    found: FloatArray = given.copy()
    open_ones = np.flatnonzero(given[:, 1] > given[:, 0])
    while len(open_ones):
        here = given[open_ones]
        reach = (here[:, 1] - here[:, 0]) * (1 / _KEPT - 1)
        moved = here + rng.uniform(-1, 1, here.shape) * reach[:, np.newaxis]
        moved = np.clip(moved, min(0.0, float(given.min())), latest)
        inside = np.minimum(moved[:, 1], here[:, 1]) - np.maximum(moved[:, 0], here[:, 0])
        around = np.maximum(moved[:, 1], here[:, 1]) - np.minimum(moved[:, 0], here[:, 0])
        good = inside > _KEPT * around
        found[open_ones[good]] = moved[good]
        open_ones = open_ones[~good]
    return found


def swapped(sentences: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Exchange one pair of neighbours, drawn at random.

    >>> swapped(("a", "b"), np.random.default_rng(0))
    ('b', 'a')
    """
    found = list(sentences)
    if len(found) > 1:
        k = int(rng.integers(len(found) - 1))
        found[k], found[k + 1] = found[k + 1], found[k]
    return tuple(found)


def shuffled(sentences: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Put sentences into a random order.

    >>> sorted(shuffled(("a", "b", "c"), np.random.default_rng(0)))
    ['a', 'b', 'c']
    """
    return tuple(sentences[int(k)] for k in rng.permutation(len(sentences)))


def crowd(
    candidates: Stories, references: Sequence[Stories], captions: int = 200, *, seed: int = 12345
) -> Stories:
    """Make a system that says far too much: a video's own sentences, at random segments.

    Each caption is a sentence drawn from the candidates of the video, with a segment between two
    uniform times. Systems that rank hundreds of overlapping proposals look like that.

    Args:
        candidates: Real captions; only videos that have some are in the result.
        references: The annotators' stories, which say how long videos are.
        captions: How many captions to give each video.
        seed: Seed of the draws.

    >>> from reelscore import examples
    >>> from reelscore.stories import stories_of
    >>> systems, annotators = examples.stories()
    >>> truth = [stories_of(each) for each in annotators.values()]
    >>> crowd(stories_of(systems["concise"]), truth, 100)
    <5 stories, 500 captions>
    """
    made = {}
    for video, story in candidates.items():
        if not len(story):
            continue
        rng = generator(seed, 0, video)
        known = [story, *(truth[video] for truth in references if video in truth)]
        duration = max(max(each.duration or 0.0, float(each.segments.max())) for each in known)
        sentences = story.in_time_order().sentences
        made[video] = Story(
            np.sort(rng.uniform(0, duration, (captions, 2)), axis=1),
            tuple(sentences[int(k)] for k in rng.integers(len(sentences), size=captions)),
            duration,
        )
    return Stories(made, candidates.policies, candidates.notes)


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
