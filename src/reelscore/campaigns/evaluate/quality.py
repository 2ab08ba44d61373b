"""Quality control: which raters can be trusted, and how they worked."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from reelscore.campaigns.hits.tasks import Kind
from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments, Mask
from reelscore.errors import DataError, UnknownNameError
from reelscore.stats.correlation_tests import Tested
from reelscore.stats.correlations import pearson
from reelscore.stats.distributions import Alternative, student_p
from reelscore.stats.rank_tests import rank_sum, signed_rank

Test = Literal["t", "signed-rank", "rank-sum"]


class ControlPairs(NamedTuple):
    """Rows of captions and rows of their controls, in step."""

    captions: IntArray
    controls: IntArray


def pair_controls(judgments: Judgments, kind: Kind) -> ControlPairs:
    """Pair captions with their controls: same rater, HIT, system, item and criterion.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", "t1", 0, "human", "clip1", "caption", 90.0),
    ...         Judgment("r1", "h1", "t2", 1, "human", "clip2", "caption", 80.0),
    ...         Judgment("r1", "h1", "t3", 2, "human", "clip1", "degraded", 20.0)]
    >>> pair_controls(Judgments.of(rows), "degraded").captions.tolist()
    [0]
    """
    same = np.zeros(len(judgments), dtype=np.int64)
    for column in ("rater", "hit", "system", "item", "criterion"):
        values = getattr(judgments, column)
        same = same * len(values.names) + values.codes
        # Keeps the product of many columns within 64 bits.
        same = np.unique(same, return_inverse=True)[1]
    captions, controls = (
        _numbered(same, np.flatnonzero(judgments.is_kind(each))) for each in ("caption", kind)
    )
    shared = sorted(captions.keys() & controls.keys(), key=captions.__getitem__)
    return ControlPairs(
        np.array([captions[key] for key in shared], dtype=np.int64),
        np.array([controls[key] for key in shared], dtype=np.int64),
    )


def _numbered(same: IntArray, rows: IntArray) -> dict[tuple[int, int], int]:
    """Key rows by what they judge, and by their place among the rows that judge the same."""
    counts: dict[int, int] = {}
    keys = {}
    for row in rows.tolist():
        what = int(same[row])
        counts[what] = counts.get(what, -1) + 1
        keys[what, counts[what]] = row
    return keys


def compare_pairs(
    first: FloatArray, second: FloatArray, test: Test, alternative: Alternative
) -> Tested:
    """Test whether scores in pairs differ; NaN where the differences do not vary.

    The tests are Student's paired ``t``, Wilcoxon's ``signed-rank``, and Wilcoxon's ``rank-sum``
    for two independent sets, which forgets the pairs.

    >>> from numpy import array
    >>> round(compare_pairs(array([9.0, 8, 9]), array([1.0, 2, 4]), "t", "greater").p, 4)
    0.0094
    """
    apart = first - second
    if len(apart) < 2 or apart.min() == apart.max():
        return Tested(math.nan, math.nan)
    if test == "t":
        t = float(apart.mean() / (apart.std(ddof=1) / math.sqrt(len(apart))))
        return Tested(t, student_p(t, len(apart) - 1, alternative))
    if test == "signed-rank":
        return signed_rank(first, second, alternative=alternative)
    if test == "rank-sum":
        return rank_sum(first, second, alternative=alternative)
    raise UnknownNameError.of("test of pairs", test, ("t", "signed-rank", "rank-sum"))


T = TypeVar("T")
Verdict = Literal["passed", "failed", "too few pairs", "constant", "rejected", "excluded"]
Flag = Literal["repeats", "run", "speed", "order"]


@dataclass(frozen=True)
class Control:
    """What a rater must show.

    Attributes:
        test: How (caption, degraded caption) pairs are tested, one-sided.
        level: A rater passes with p below it.
        pairs: Fewer pairs than this are too few to tell; the paper collects at least 10.
        rejected: Whether a rater with a rejected HIT is left out altogether, as the published
            tools do (``rater``), only those HITs (``hit``), or nothing (``keep``).
        fastest: Flag raters who need less than this many seconds for a task, in any HIT.
        run: Flag raters who give the same score more than so often in a row.
        reference: Flag raters who give references that are shown as controls less on average.

    >>> Control().signature
    'test:t|level:0.05|pairs:10|rejected:rater'
    """

    test: Test = "t"
    level: float = 0.05
    pairs: int = 10
    rejected: Literal["rater", "hit", "keep"] = "rater"
    fastest: float = 3.0
    run: int = 8
    reference: float = 90.0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise DataError(f"The level is {self.level:g}; expected a probability, such as 0.05.")
        if self.pairs < 2:
            raise DataError(f"{self.pairs} pairs cannot be tested; ask for 2 or more.")

    @property
    def signature(self) -> str:
        """What decides who passes."""
        return f"test:{self.test}|level:{self.level:g}|pairs:{self.pairs}|rejected:{self.rejected}"


@dataclass(frozen=True)
class RaterQuality:
    """What one rater did, and whether it can be used.

    Attributes:
        rater: Who.
        hits: HITs done.
        judgments: Judgments made.
        pairs: (caption, degraded caption) pairs judged.
        difference: By how much the captions were scored higher than the degraded ones, on average.
        statistic: Of the test.
        p: Of the test; NaN where it cannot be made.
        verdict: ``passed``, or why not.
        repeats: Captions judged twice.
        repeat_difference: Mean absolute difference of the two scores.
        repeat_p: Two-sided paired t: below the level, the second scores differ from the first.
        repeat_r: Correlation of the two scores.
        mean: Of all scores.
        deviation: Of all scores.
        seconds: For a task, on average, where times are known.
        run: The longest run of one score.
        flags: What an organiser should look at; they decide nothing.
    """

    rater: str
    hits: int
    judgments: int
    pairs: int
    difference: float
    statistic: float
    p: float
    verdict: Verdict
    repeats: int
    repeat_difference: float
    repeat_p: float
    repeat_r: float
    mean: float
    deviation: float
    seconds: float
    run: int
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class Quality:
    """The verdict on every rater.

    Attributes:
        control: What was asked.
        raters: Each rater, in order of appearance.
    """

    control: Control
    raters: tuple[RaterQuality, ...]

    @property
    def passed(self) -> list[str]:
        """Who can be used."""
        return [each.rater for each in self.raters if each.verdict == "passed"]

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON has it; what is not known is null."""
        rows = [{key: known(value) for key, value in asdict(each).items()} for each in self.raters]
        return {"control": asdict(self.control), "passed": self.passed, "raters": rows}

    def good(self, judgments: Judgments) -> Judgments:
        """Keep what raters who passed said, without rejected HITs where only those go."""
        kept = judgments.by(self.passed)
        return kept.select(~kept.status["rejected"]) if self.control.rejected == "hit" else kept


def check_quality(
    judgments: Judgments,
    control: Control | None = None,
    *,
    humans: Collection[str] = (),
    excluded: Collection[str] = (),
) -> Quality:
    """Judge the raters.

    Args:
        judgments: Everything they said, controls among it.
        control: What is asked of them.
        humans: The systems that are people: a rater who puts the others above them is flagged.
        excluded: Raters whom the organisers have excluded.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"{kind}{k}", k, "human", f"clip{k}", kind, score + k % 3)
    ...         for k in range(10) for kind, score in (("caption", 80.0), ("degraded", 9.0 * k))]
    >>> quality = check_quality(Judgments.of(rows))
    >>> quality.raters[0].verdict, round(quality.raters[0].p, 4), quality.passed
    ('passed', 0.0007, ['r1'])
    """
    control = control or Control()
    usable = judgments
    if control.rejected == "hit":
        usable = judgments.select(~judgments.status["rejected"])
    degraded, repeats = pair_controls(usable, "degraded"), pair_controls(usable, "repeat")
    people = np.isin(
        usable.system.codes, [k for k, n in enumerate(usable.system.names) if n in humans]
    )
    paces, runs = pace(usable), longest_run(usable)
    raters = []
    for rater in judgments.rater.names:
        mine = usable.rater[rater]
        speed = paces.get(rater, Pace(math.nan, math.nan))
        pairs = _scores(usable, degraded, mine)
        again = _scores(usable, repeats, mine)
        tested = compare_pairs(*pairs, control.test, "greater")
        repeated = compare_pairs(*again, "t", "two-sided")
        rejected = bool((judgments.status["rejected"] & judgments.rater[rater]).any())
        scores = usable.score[mine]
        apart = abs(again[0] - again[1])
        flags: dict[Flag, bool] = {
            "repeats": repeated.p < control.level,
            "run": runs.get(rater, 0) > control.run,
            "speed": speed.fastest < control.fastest,
            "order": _out_of_order(usable, mine, people, control.reference),
        }
        raters.append(
            RaterQuality(
                rater=rater,
                hits=len(np.unique(usable.hit.codes[mine])),
                judgments=int(mine.sum()),
                pairs=len(pairs[0]),
                difference=_mean(pairs[0] - pairs[1]),
                statistic=tested.statistic,
                p=tested.p,
                verdict="excluded"
                if rater in excluded
                else _verdict(control, pairs, tested.p, rejected),
                repeats=len(apart),
                repeat_difference=_mean(apart),
                repeat_p=repeated.p,
                repeat_r=float(pearson(*again)) if len(apart) > 2 else math.nan,
                mean=_mean(scores),
                deviation=float(scores.std(ddof=1)) if len(scores) > 1 else math.nan,
                seconds=speed.mean,
                run=runs.get(rater, 0),
                flags=tuple(name for name, raised in flags.items() if raised),
            )
        )
    return Quality(control, tuple(raters))


def _scores(
    judgments: Judgments, controls: ControlPairs, mine: Mask
) -> tuple[FloatArray, FloatArray]:
    rows = mine[controls.captions]
    return judgments.score[controls.captions[rows]], judgments.score[controls.controls[rows]]


def _verdict(
    control: Control, pairs: tuple[FloatArray, FloatArray], p: float, rejected: bool
) -> Verdict:
    if rejected and control.rejected == "rater":
        return "rejected"
    if len(pairs[0]) < control.pairs:
        return "too few pairs"
    if math.isnan(p):
        return "constant"
    return "passed" if p < control.level else "failed"


def _out_of_order(judgments: Judgments, mine: Mask, people: Mask, least: float) -> bool:
    """Return whether degraded captions come out above captions, or captions above people's."""
    captions, references = judgments.is_kind("caption"), judgments.is_kind("reference")
    degraded = judgments.is_kind("degraded")
    has_degraded = np.isin(
        judgments.system.codes, np.unique(judgments.system.codes[mine & degraded])
    )
    below = [
        (degraded, captions & has_degraded),
        (captions & ~people, references | captions & people),
    ]
    means = [[_mean(judgments.score[mine & each]) for each in pair] for pair in below]
    low = _mean(judgments.score[mine & references]) < least
    return low or any(lower >= higher for lower, higher in means)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else math.nan


def known(value: T) -> T | None:
    """Return a value as JSON has it: what is not a number is null."""
    return None if isinstance(value, float) and math.isnan(value) else value


class Pace(NamedTuple):
    """Seconds for a task: on average, and in the HIT that was done fastest."""

    mean: float
    fastest: float


def pace(judgments: Judgments) -> dict[str, Pace]:
    """Measure how long tasks took, for each rater whose times are known.

    Of a HIT whose whole time is known, that is divided by its tasks, and by the HITs the rater
    had open at the same time; otherwise the times between showing a task and its answer count, by
    the server's clock where they are known, else by that of the rater's page.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"t{k}", k, "mine", f"v{k}", "caption", 50.0, seconds=60.0)
    ...         for k in range(20)]
    >>> pace(Judgments.of(rows))
    {'r1': Pace(mean=3.0, fastest=3.0)}
    """
    raters, hits = judgments.rater, judgments.hit
    keys, first, group, tasks = np.unique(
        raters.codes * len(hits.names) + hits.codes,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    whole = judgments.seconds[first]
    start, end = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    is_timed = ~np.isnan(judgments.opened)
    shown = np.where(is_timed, judgments.opened, judgments.started)
    answered = np.where(is_timed, judgments.received, judgments.submitted)
    np.fmin.at(start, group, shown)
    np.fmax.at(end, group, answered)
    summed = np.bincount(group, answered - shown, minlength=len(keys))
    seconds = np.where(np.isnan(whole), summed, whole) / tasks
    owner = keys // len(hits.names)
    paces = {}
    for k, rater in enumerate(raters.names):
        mine = (owner == k) & ~np.isnan(seconds)
        if mine.any():
            apart = np.where(np.isnan(whole[mine]), 1, _at_once(start[mine], end[mine]))
            times = seconds[mine] / apart
            paces[rater] = Pace(float(times.mean()), float(times.min()))
    return paces


def _at_once(start: FloatArray, end: FloatArray) -> FloatArray:
    """Count, for each stretch of time, how many it shares time with, itself among them."""
    overlaps = (start[:, None] < end) & (start < end[:, None])
    counts: FloatArray = np.maximum(1, overlaps.sum(axis=1)).astype(float)
    return counts


def longest_run(judgments: Judgments) -> dict[str, int]:
    """Count, for each rater, the longest run of one score, in the order of a HIT.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"t{k}", k, "mine", f"v{k}", "caption", score)
    ...         for k, score in enumerate([50.0, 7.0, 7.0, 7.0, 50.0])]
    >>> longest_run(Judgments.of(rows))
    {'r1': 3}
    """
    order = np.lexsort(
        (judgments.position, judgments.criterion.codes, judgments.hit.codes, judgments.rater.codes)
    )
    raters = judgments.rater.codes[order]
    others = judgments.hit.codes, judgments.criterion.codes, judgments.score
    columns = [raters, *(column[order] for column in others)]
    changes = np.ones(len(order), dtype=bool)
    if len(order):
        changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.flatnonzero(changes)
    lengths = np.diff(np.append(starts, len(order)))
    longest = np.zeros(len(judgments.rater.names), dtype=np.int64)
    np.maximum.at(longest, raters[starts], lengths)
    return dict(zip(judgments.rater.names, longest.tolist(), strict=True))
