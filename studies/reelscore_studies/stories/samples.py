"""Systems made from real stories, to see what a metric makes of them.

Every draw depends on the seed, the repetition and the video's id alone, so that results do not
depend on the order of a file, nor on which other videos are in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from reelscore.data.stories import Stories, Story


def generator(seed: int, repetition: int, video: str) -> np.random.Generator:
    """Random numbers for one video in one repetition.

    >>> int(generator(1, 0, "v_1").integers(100)) == int(generator(1, 0, "v_1").integers(100))
    True
    """
    return np.random.default_rng([seed, repetition, zlib.crc32(video.encode())])


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
