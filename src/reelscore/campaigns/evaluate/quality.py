"""Quality control: which raters can be trusted, and how they worked.

Raters of ratings are tested by pairs of a caption and its degraded caption, in one criterion;
raters of comparisons by questions whose answer is known. Where nobody can be tested, all count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple, TypeVar, get_args

import msgspec
import numpy as np

from reelscore._records import resolved
from reelscore.campaigns.hits.tasks import Kind
from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments, Mask
from reelscore.data.checks import counted
from reelscore.errors import DataError, check_choice
from reelscore.stats.correlation_tests import Tested
from reelscore.stats.correlations import pearson
from reelscore.stats.distributions import Alternative, student_p
from reelscore.stats.rank_tests import rank_sum, signed_rank

Test = Literal["t", "signed-rank", "rank-sum"]
Rejected = Literal["rater", "hit", "keep"]


class ControlPairs(NamedTuple):
    """Rows of captions and rows of their controls, in step."""

    captions: IntArray
    controls: IntArray


def pair_controls(judgments: Judgments, kind: Kind) -> ControlPairs:
    """Pair captions with their controls: same rater, HIT, system, item and criterion."""
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
    """
    apart = first - second
    if len(apart) < 2 or np.ptp(apart) <= _ROUNDING * np.abs([first, second]).max():
        return Tested(math.nan, math.nan)
    if test == "t":
        t = float(apart.mean() / (apart.std(ddof=1) / math.sqrt(len(apart))))
        return Tested(t, student_p(t, len(apart) - 1, alternative))
    if test == "signed-rank":
        return signed_rank(first, second, alternative=alternative)
    check_choice("test of pairs", test, get_args(Test))
    return rank_sum(first, second, alternative=alternative)


T = TypeVar("T")
KEY = "quality"  # of a campaign's settings
_ROUNDING = 1e-12  # of the largest score: differences of fractions are not exact
TESTED = ("passed", "failed", "constant")
POOR = ("failed", "constant", "rejected", "excluded")  # verdicts that more work does not change
Verdict = Literal[
    "passed", "failed", "too few pairs", "untested", "constant", "rejected", "excluded"
]
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
        criterion: By which criterion raters are tested; the first one if empty.
        fastest: Flag raters who need less than this many seconds for a task, in any HIT.
        run: Flag raters who give the same score more than so often in a row.
        reference: Flag raters who give references that are shown as controls less on average.

    >>> Control().signature
    'test:t|level:0.05|pairs:10|rejected:rater'
    """

    test: Test = "t"
    level: float = 0.05
    pairs: int = 10
    rejected: Rejected = "rater"
    criterion: str = ""
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
        by = f"|criterion:{self.criterion}" if self.criterion else ""
        pairs = f"pairs:{self.pairs}|rejected:{self.rejected}"
        return f"test:{self.test}|level:{self.level:g}|{pairs}{by}"


_READY = resolved(Control)


def control_of(settings: Mapping[str, object], given: Mapping[str, object]) -> Control:
    """Return what a campaign's settings ask of its raters, or in its place what is given.

    >>> control_of({"quality": {"pairs": 6, "level": 0.1}}, {"level": 0.05}).signature
    'test:t|level:0.05|pairs:6|rejected:rater'
    """
    stored = settings.get(KEY)
    wanted = {**(stored if isinstance(stored, dict) else {}), **given}
    try:
        return msgspec.convert(wanted, _READY)
    except msgspec.ValidationError as error:
        raise DataError(f"The settings of the quality control: {error}.") from None


@dataclass(frozen=True)
class RaterQuality:
    """What one rater did, and whether it can be used."""

    rater: str  # who
    hits: int  # HITs done
    judgments: int  # judgments made, by the criterion that is tested
    pairs: int  # (caption, degraded caption) pairs judged
    # by how much the captions were scored higher than the degraded ones, on average
    difference: float
    statistic: float  # of the test
    p: float  # of the test; NaN where it cannot be made
    verdict: Verdict  # ``passed``, or why not
    repeats: int  # captions judged twice
    repeat_difference: float  # mean absolute difference of the two scores
    repeat_p: float  # two-sided paired t: below the level, the second scores differ from the first
    repeat_r: float  # correlation of the two scores
    mean: float  # of all scores
    deviation: float  # of all scores
    seconds: float  # for a task, on average, where times are known
    run: int  # the longest run of one score
    flags: tuple[Flag, ...]  # what an organiser should look at; they decide nothing
    asked: int = 0  # questions with a known answer that the rater answered
    right: int = 0  # how many of these rightly


@dataclass(frozen=True)
class Quality:
    """The verdict on every rater.

    Attributes:
        control: What was asked.
        raters: Each rater, in order of appearance.
        criterion: By what the raters are tested.
        tests: How many questions with a known answer there are; None where pairs of captions
            decide.
    """

    control: Control
    raters: tuple[RaterQuality, ...]
    criterion: str = ""
    tests: int | None = None

    @property
    def passed(self) -> list[str]:
        """Who has passed."""
        return [each.rater for each in self.raters if each.verdict == "passed"]

    @property
    def is_tested(self) -> bool:
        """Whether anybody could be tested."""
        return any(each.verdict in TESTED for each in self.raters)

    @property
    def used(self) -> list[str]:
        """Whose judgments count: of those who passed, or where nobody can be tested of all."""
        untested = ("too few pairs", "untested")
        return self.passed or [
            each.rater for each in self.raters if each.verdict in untested and not self.is_tested
        ]

    @property
    def poor(self) -> frozenset[str]:
        """Whose judgments do not count, and whose HITs somebody else should do."""
        return frozenset(each.rater for each in self.raters if each.verdict in POOR)

    @property
    def summary(self) -> str:
        """How many raters passed, by what, and what became of the others."""
        counts = Counter(each.verdict for each in self.raters)
        others = [f"{count} {name}" for name, count in counts.items() if name != "passed"]
        by = "test questions" if self.tests is not None else f"pairs by {self.criterion}"
        said = f"{counts['passed']} of {counted(len(self.raters), 'rater')} passed"
        said += f" ({', '.join(others)})" if others else ""
        return f"{said}, tested on {by}" if self.is_tested else f"{said}. {self.untested}"

    @property
    def untested(self) -> str:
        """Why nobody is tested, and what that means; empty where somebody is."""
        if self.is_tested or not self.used:
            return ""
        if self.tests is not None:
            return "There are no test questions: all raters count."
        return (
            f"Nobody gave the {self.control.pairs} pairs of a caption and its degraded caption "
            "that a test needs: no rater is tested, and all count. A smaller number can be set."
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything as JSON has it; what is not known is null."""
        rows = [{key: known(value) for key, value in asdict(each).items()} for each in self.raters]
        return {"control": asdict(self.control), "passed": self.passed, "raters": rows}

    def good(self, judgments: Judgments) -> Judgments:
        """Keep what raters who count said, without rejected HITs where only those go."""
        kept = judgments.by(self.used)
        return kept.select(~kept.status["rejected"]) if self.control.rejected == "hit" else kept


def check_quality(
    judgments: Judgments,
    control: Control | None = None,
    *,
    humans: Collection[str] = (),
    excluded: Collection[str] = (),
    tests: Mapping[str, float] | None = None,
) -> Quality:
    """Judge the raters, by one criterion.

    Args:
        judgments: Everything they said, controls among it.
        control: What is asked of them.
        humans: The systems that are people: a rater who puts the others above them is flagged.
        excluded: Raters whom the organisers have excluded.
        tests: Where no captions are degraded, the answers to the questions that have a known one,
            by task: a rater passes who answers all of them rightly, and at least one.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"{kind}{k}", k, "human", f"clip{k}", kind, score + k % 3)
    ...         for k in range(10) for kind, score in (("caption", 80.0), ("degraded", 9.0 * k))]
    >>> quality = check_quality(Judgments.of(rows))
    >>> quality.raters[0].verdict, round(quality.raters[0].p, 4), quality.passed
    ('passed', 0.0007, ['r1'])
    """
    control = control or Control()
    criterion = _criterion(judgments, control)
    usable = judgments.only(criterion)
    if control.rejected == "hit":
        usable = usable.select(~usable.status["rejected"])
    answers = count_answers(judgments, tests) if tests else {}
    degraded, repeats = pair_controls(usable, "degraded"), pair_controls(usable, "repeat")
    people = usable.system.among(humans)
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
        right, asked = answers.get(rater, (0, 0))
        verdict = _verdict(control, pairs, tested.p)
        if tests is not None:
            verdict = "untested" if not tests else "passed" if right == asked > 0 else "failed"
        if rejected and control.rejected == "rater":
            verdict = "rejected"
        flags: dict[Flag, bool] = {
            "repeats": repeated.p < control.level,
            "run": runs.get(rater, 0) > control.run,
            "speed": speed.fastest < control.fastest,
            "order": tests is None and _out_of_order(usable, mine, people, control.reference),
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
                verdict="excluded" if rater in excluded else verdict,
                repeats=len(apart),
                repeat_difference=_mean(apart),
                repeat_p=repeated.p,
                repeat_r=float(pearson(*again)) if len(apart) > 2 else math.nan,
                mean=_mean(scores),
                deviation=float(scores.std(ddof=1)) if len(scores) > 1 else math.nan,
                seconds=speed.mean,
                run=runs.get(rater, 0),
                flags=tuple(name for name, raised in flags.items() if raised),
                asked=asked,
                right=right,
            )
        )
    return Quality(control, tuple(raters), criterion, None if tests is None else len(tests))


def _criterion(judgments: Judgments, control: Control) -> str:
    """Return by what raters are tested: by adequacy, unless something else is asked for."""
    names = judgments.criterion.names
    if control.criterion:
        check_choice("criterion", control.criterion, names)
    return control.criterion or next(iter(sorted(names, key=lambda name: name != "adequacy")), "")


def count_answers(
    judgments: Judgments, expected: Mapping[str, float]
) -> dict[str, tuple[int, int]]:
    """Count for each rater the questions answered rightly, and those that were asked.

    An answer is right on the side of the expected one: both below 0, above 0, or 0.
    """
    answers = dict.fromkeys(judgments.rater.names, (0, 0))
    for row in judgments.select(judgments.is_kind("test")):
        if row.task not in expected:
            raise DataError(
                f"Task {row.task!r} is a test question whose right answer is not given; expected "
                "the answers of all."
            )
        right, asked = answers[row.rater]
        is_right = np.sign(row.score) == np.sign(expected[row.task])
        answers[row.rater] = (right + int(is_right), asked + 1)
    return answers


class Repeats(NamedTuple):
    """Captions that raters judged twice."""

    captions: int  # how many
    r: float  # the correlation of the two scores, over all raters; NaN where there are too few

    def __str__(self) -> str:
        return f"{counted(self.captions, 'caption')} judged twice by a rater, r {self.r:.2f}"


def repeated(judgments: Judgments) -> Repeats:
    """Correlate the two scores that raters gave to one caption."""
    rows = pair_controls(judgments, "repeat")
    first, second = judgments.score[rows.captions], judgments.score[rows.controls]
    return Repeats(len(first), float(pearson(first, second)) if len(first) > 2 else math.nan)


def _scores(
    judgments: Judgments, controls: ControlPairs, mine: Mask
) -> tuple[FloatArray, FloatArray]:
    rows = mine[controls.captions]
    return judgments.score[controls.captions[rows]], judgments.score[controls.controls[rows]]


def _verdict(control: Control, pairs: tuple[FloatArray, FloatArray], p: float) -> Verdict:
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
    """
    raters, hits = judgments.rater, judgments.hit
    keys, row, group, tasks = np.unique(
        raters.codes * len(hits.names) + hits.codes,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    whole = judgments.seconds[row]
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
            # how many stretches of time each shares time with, itself among them
            first, last = start[mine], end[mine]
            at_once = ((first[:, None] < last) & (first < last[:, None])).sum(axis=1)
            times = seconds[mine] / np.where(np.isnan(whole[mine]), 1, np.maximum(1, at_once))
            paces[rater] = Pace(float(times.mean()), float(times.min()))
    return paces


def longest_run(judgments: Judgments) -> dict[str, int]:
    """Count, for each rater, the longest run of one score, in the order of a HIT."""
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
