"""Oracle captions: for every reference the caption of the system that describes it best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reelscore import _native
from reelscore.data.stories import Story
from reelscore.metrics.self_bleu import SelfBleu
from reelscore.metrics.sent_bleu import smoothed_bleu
from reelscore.stories.protocol import Protocol
from reelscore.stories.sentence_pairs import PairStatistics, TextPool, soda_tokens
from reelscore.stories.sentence_scores import SentenceScore, looks_at_pairs_alone, sentence_metric
from reelscore.text.packed import pack
from reelscore.text.tokens import Tokenizer, tokenize
from reelscore.text.words import Captions

Sentences = tuple[str, ...]


def oracle_captions(
    candidates: Sequence[Story], truth: Sequence[Story], protocol: Protocol, threads: int = 1
) -> tuple[list[Sentences], list[float]]:
    """Find the best sentence for every reference, wherever in the video it stands.

    A sentence may be the best for several references; of equally good ones the earliest is taken.

    Args:
        candidates: The system's story of each video.
        truth: The references of each video, as one story.
        protocol: Says what f is, and how sentences are tokenized.
        threads: How many threads to use.

    Returns:
        For each video a sentence for every reference, none where there are no candidates; and
        the scores of all references, 0 there.

    >>> times = np.array([[0.0, 5.0], [5.0, 9.0]])
    >>> ours = Story(times, ("he jumps high", "a man runs"))
    >>> truth = Story(times, ("a man is running", "he jumps"))
    >>> oracle_captions([ours], [truth], Protocol())[0]
    [('a man runs', 'he jumps high')]
    """
    metric = sentence_metric(protocol.f)
    references: list[str] = []
    if not looks_at_pairs_alone(metric):
        sentences = [sentence for story in truth for sentence in story.sentences]
        references = soda_tokens(sentences, protocol, threads)
    reverse = protocol.meteor_order == "swapped"
    f = SentenceScore(metric, references, swapped=reverse, threads=threads)
    oracle: list[Sentences] = []
    scores: list[float] = []
    for story, wanted in zip(candidates, truth, strict=True):
        if not len(story):
            oracle.append(())
            scores += [0.0] * len(wanted)
            continue
        ours = story.in_time_order().sentences
        pool = TextPool()
        numbers = [
            pool.add(soda_tokens(side, protocol, threads)) for side in (ours, wanted.sentences)
        ]
        rows, columns = np.indices((len(ours), len(wanted))).reshape(2, -1)
        known = PairStatistics(metric, pool, threads)
        values = f.of_pairs(pool, known, numbers[0][rows], numbers[1][columns])
        table = values.reshape(len(ours), len(wanted))
        oracle.append(tuple(ours[int(k)] for k in table.argmax(axis=0)))
        scores += table.max(axis=0).tolist()
    return oracle, scores


def self_bleu_of(
    stories: Sequence[Sequence[str]], tokenizer: Tokenizer = "ptb", threads: int = 1
) -> tuple[float, float]:
    """Self-BLEU inside stories, and over the captions of all of them.

    Args:
        stories: The sentences of each story; those with fewer than two are left out.
        tokenizer: How to tokenize.
        threads: How many threads to use.

    Returns:
        The mean over stories of the Self-BLEU of each, and the Self-BLEU of all captions
        together; 0–1, lower for more diverse captions.

    >>> inside, over_all = self_bleu_of([["a man runs in a park"] * 2, ["two dogs", "a cat"]])
    >>> round(inside, 2), round(over_all, 2)
    (0.5, 0.54)
    """
    several = [list(story) for story in stories if len(story) > 1]
    if not several:
        return 0.0, 0.0
    sentences = [sentence for story in several for sentence in story]
    captions = Captions(pack(tokenize(sentences, tokenizer, threads=threads)))
    by_story = np.cumsum([0, *map(len, several)], dtype=np.int64)

    def mean(offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        n = SelfBleu().n
        counts = _native.self_bleu_statistics(*captions.words, offsets, n, threads)
        totals = np.add.reduceat(smoothed_bleu(counts, n, "epsilon", 0.1), offsets[:-1])
        return float(np.mean(totals / np.diff(offsets)))

    return mean(by_story), mean(by_story[[0, -1]])
