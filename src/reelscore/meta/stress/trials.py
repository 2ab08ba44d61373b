"""The trials of a stress test: scores of originals and changed captions, side by side."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress, Steps
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.checks import counted, first_few
from reelscore.data.tables.scales import Scale, score_labels
from reelscore.errors import DataError
from reelscore.meta.stress.cases import (
    Case,
    Sort,
    are_paragraphs,
    checked_kinds,
    kind_sort,
    make_cases,
    stress_kinds,
    take_out,
)
from reelscore.metrics.registry import DEFAULT_METRICS, MetricColumns, table_columns
from reelscore.scoring.captions import Metrics
from reelscore.scoring.prepared import PreparedReferences
from reelscore.stats.distributions import wilson_interval
from reelscore.text.tokens import Tokenizer

_TIE = 1e-6  # of the spread: what the rounding of a network may make


@dataclass(frozen=True)
class Trial:
    """What a metric made of one kind of change."""

    metric: str  # the name of the score
    kind: str  # the kind of damage or exploit
    sort: Sort  # which of the two it is
    captions: int  # how many captions it could be made of, and have a score
    below: int  # how many changed captions score below their original
    ties: int  # how many score the same
    # the mean difference to the original, in standard deviations of the originals' scores; NaN
    # where these are all alike
    drop: float

    @property
    def share(self) -> float:
        """The share of changed captions that score below their original; ties do not."""
        return self.below / self.captions if self.captions else float("nan")

    @property
    def fooled(self) -> float:
        """The share of changed captions that score at or above their original."""
        return 1 - self.share

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share below, by Wilson."""
        return wilson_interval(self.below, self.captions)


@dataclass(frozen=True)
class Stress:
    """The trials of some metrics.

    Attributes:
        trials: Each metric with each kind, metric by metric.
        cases: The captions of each kind.
        scores: The scores of each metric and kind: a row for each case, original and changed.
        signatures: The signature of each metric.
        scales: How to read the scores of each metric.
        spreads: The standard deviation of each metric's scores of the originals.
        items: How many originals there were.
        source: Where the originals come from.
        seed: The random seed.
        notes: What a reader has to know.
    """

    trials: Sequence[Trial]
    cases: Mapping[str, Sequence[Case]]
    scores: Mapping[tuple[str, str], NDArray[np.float64]]
    signatures: Mapping[str, str]
    scales: Mapping[str, Scale]
    spreads: Mapping[str, float]
    items: int
    source: str
    seed: int
    notes: Sequence[str] = field(default=())

    @property
    def metrics(self) -> list[str]:
        """The names of the scores."""
        return list(self.signatures)

    @property
    def labels(self) -> dict[str, str]:
        """What the scores are called in print, by name."""
        return score_labels(self.scales)

    def kinds(self, sort: Sort) -> list[str]:
        """Return the kinds of one sort that could be made at all."""
        return [kind for kind in self.cases if kind_sort(kind) == sort]

    def trial(self, metric: str, kind: str) -> Trial:
        """Return the trial of a metric and a kind."""
        return next(each for each in self.trials if (each.metric, each.kind) == (metric, kind))

    def worst(self, metric: str, kind: str, count: int = 5) -> list[tuple[Case, float, float]]:
        """Return the cases that a metric gets most wrong, with the scores of both captions."""
        pairs = self.scores[metric, kind]
        lost = self.scales[metric].sign * (pairs[:, 0] - pairs[:, 1])
        order = [k for k in np.argsort(lost, kind="stable") if np.isfinite(lost[k])][:count]
        return [(self.cases[kind][k], float(pairs[k, 0]), float(pairs[k, 1])) for k in order]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "seed": self.seed,
            "items": self.items,
            "originals": self.source,
            "notes": list(self.notes),
            "metrics": [
                {"name": name, "signature": signature, "spread": self.spreads[name]}
                for name, signature in self.signatures.items()
            ],
            "trials": [
                {
                    "metric": trial.metric,
                    "kind": trial.kind,
                    "sort": trial.sort,
                    "captions": trial.captions,
                    "below": trial.below,
                    "ties": trial.ties,
                    "share_below": _plain(trial.share),
                    "interval": list(trial.interval),
                    "fooled": _plain(trial.fooled),
                    "drop": _plain(trial.drop),
                }
                for trial in self.trials
            ],
            "cases": {
                kind: [
                    {
                        **case._asdict(),
                        "scores": {
                            metric: list(map(_plain, self.scores[metric, kind][k].tolist()))
                            for metric in self.metrics
                        },
                    }
                    for k, case in enumerate(cases)
                ]
                for kind, cases in self.cases.items()
            },
        }


def stress_metrics(
    metrics: Metrics = DEFAULT_METRICS,
    references: CaptionsLike | None = None,
    captions: Mapping[str, str] | None = None,
    *,
    kinds: Sequence[str] | None = None,
    items: int | None = None,
    seed: int = 12345,
    tokenizer: Tokenizer = "ptb",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Stress:
    """Damage captions by rule, and see whether metrics notice.

    Args:
        metrics: Names, signatures or metrics. Of a metric with several scores those that are named
            are tried, or that which has its name, or the last: BLEU-4.
        references: The references of each item; the embedded examples if not given.
        captions: True captions, the originals. If not given, a reference of each item is taken
            out, by chance, and the others stay: an item needs two then.
        kinds: The kinds, see `stress_kinds`, or forms of a damage (``negation/never``). If not
            given, those for paragraphs where most originals have several sentences.
        items: Try only so many items, chosen by chance.
        seed: Random seed; the changes of an item depend on it, the kind and the item's captions.
        tokenizer: As in `reelscore.score`.
        threads: How many threads to use; ``None`` for all cores. Never changes a number.
        progress: Called with how many kinds are done, of how many.

    Raises:
        DataError: If there is nothing to try.
        UnknownNameError: If there is no such kind.

    >>> result = stress_metrics("meteor", kinds=["truncation", "other video"])
    >>> [(trial.kind, trial.captions, trial.below) for trial in result.trials]
    [('truncation', 15, 12), ('other video', 15, 14)]
    """
    chosen = None if kinds is None else checked_kinds(kinds)
    tried = table_columns(metrics)
    scales = {name: own.metric.scale_of(name) for own in tried for name in _tried_scores(own)}
    if references is None:
        from reelscore.examples import clips

        references = clips()[1]
    every = references_by_item(references)
    lone_references(every, tokenized=tokenizer == "none")  # complains about empty ones
    originals, truth, notes = _originals(every, captions, seed)
    if items is not None and items < len(originals):
        kept = set(random.Random(seed).sample(sorted(originals), items))
        originals = {item: text for item, text in originals.items() if item in kept}
        truth = {item: truth[item] for item in originals}
    paired = lone_references(truth, empty="zero", tokenized=tokenizer == "none")
    prepared = PreparedReferences(paired, tried, tokenizer, threads, "skip", "zero")
    if chosen is None:
        chosen = stress_kinds(paragraphs=are_paragraphs(originals.values()))
    cases = make_cases(originals, truth, chosen, seed)
    if not cases:
        raise DataError(
            "No caption can be changed in these ways. The damages are for English; name another "
            'kind, such as kinds="shuffle", or give more items.'
        )
    steps = Steps(progress, len(cases) + 1)
    measured = _measured(prepared, list(originals.items()))
    results = prepared.scores(measured)
    before = _scores(tried, measured)
    places = {item: place for place, item in enumerate(originals)}
    spreads = {name: float(np.nanstd(before[name])) for name in scales}
    steps()
    trials: dict[tuple[str, str], Trial] = {}
    scores: dict[tuple[str, str], NDArray[np.float64]] = {}
    after: dict[tuple[str, str], NDArray[np.float64]] = {}  # what two kinds share is scored once
    for kind, own in cases.items():
        changed = [(case.item, case.changed) for case in own]
        if new := [each for each in dict.fromkeys(changed) if each not in after]:
            made = _scores(tried, _measured(prepared, new))
            after |= zip(new, np.stack([made[name] for name in scales], axis=1), strict=True)
        columns = np.stack([after[each] for each in changed], axis=1)
        for (name, scale), second in zip(scales.items(), columns, strict=True):
            first = before[name][[places[case.item] for case in own]]
            scores[name, kind] = np.stack([first, second], axis=1)
            lost = scale.sign * (first - second)
            trials[name, kind] = _trial(name, kind, lost, spreads[name])
        steps()
    if unused := [kind for kind in chosen if kind not in cases]:
        notes.append(f"No caption can be changed by {', '.join(unused)}.")
    notes += [
        f"{name}: all originals score the same, so there is no mean drop."
        for name, spread in spreads.items()
        if not spread
    ]
    return Stress(
        trials=[trials[name, kind] for name in scales for kind in cases],
        cases=cases,
        scores=scores,
        signatures={name: results[name].signature for name in scales},
        scales=scales,
        spreads=spreads,
        items=len(originals),
        source="a reference of each item, taken out" if captions is None else "captions given",
        seed=seed,
        notes=[*notes, *prepared.warnings(), *prepared.notes()],
    )


def _tried_scores(columns: MetricColumns) -> Sequence[str]:
    """Return the scores of a metric to try: those that were asked for, or its main one."""
    names, metric = columns.judged, columns.metric
    if not (metric.independent and all(metric.scale_of(name).ranks for name in names)):
        raise DataError(
            f"{names[0]} does not say of a single caption how good it is, and so there is nothing "
            "to compare before and after a damage. Leave it out."
        )
    return names


def _originals(
    references: Mapping[str, Sequence[str]], captions: Mapping[str, str] | None, seed: int
) -> tuple[dict[str, str], dict[str, list[str]], list[str]]:
    """Return the originals, the references they are scored against, and notes."""
    if captions is None:
        originals, truth = take_out(references, seed)
        if not originals:
            raise DataError(
                "Each item has a single reference, or the same one again, so none can be taken out "
                "as the original. Give true captions beside the references, or references of a "
                "second person."
            )
    else:
        lone = [item for item in captions if item not in references]
        if lone:
            have = "has" if len(lone) == 1 else "have"
            raise DataError(
                f"{counted(len(lone), 'caption')} {have} no references ({first_few(lone)}); give "
                "references of them, or leave them out."
            )
        originals = {item: text for item, text in captions.items() if text.split()}
        truth = {item: list(references[item]) for item in originals}
        if not originals:
            raise DataError("There are no captions to change; at least one is needed.")
    left_out = (len(references) if captions is None else len(captions)) - len(originals)
    what = "a single reference" if captions is None else "no words"
    notes = [f"{counted(left_out, 'item')} left out: {what}."] if left_out else []
    copies = sum(text in truth[item] for item, text in originals.items())
    if copies:
        notes.append(
            f"Warning: {copies:,} of {len(originals):,} originals are among their references, and "
            "hardly anything scores above those. Take them out of the references."
        )
    return originals, truth, notes


def _measured(
    prepared: PreparedReferences, captions: Sequence[tuple[str, str]]
) -> list[NDArray[np.float64]]:
    """Measure captions of items, each by itself."""
    position = prepared.index.position
    numbers = np.array([position[item] for item, _ in captions], dtype=np.int64)
    return prepared.measure([text for _, text in captions], numbers)


def _scores(
    tried: Sequence[MetricColumns], measured: Sequence[NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Return all scores of captions; NaN where a judge has no answer."""
    scores: dict[str, NDArray[np.float64]] = {}
    for columns, rows in zip(tried, measured, strict=True):
        scores |= dict(zip(columns.names, columns.metric.scores(rows).T, strict=True))
    return scores


def _trial(metric: str, kind: str, lost: NDArray[np.float64], spread: float) -> Trial:
    lost = lost[np.isfinite(lost)]
    tie = np.abs(lost) <= _TIE * spread
    return Trial(
        metric=metric,
        kind=kind,
        sort=kind_sort(kind),
        captions=len(lost),
        below=int(((lost > 0) & ~tie).sum()),
        ties=int(tie.sum()),
        drop=float(lost.mean() / spread) if spread > 0 and len(lost) else float("nan"),
    )


def _plain(value: float) -> float | None:
    """Return a number as JSON knows it."""
    return None if np.isnan(value) else value
