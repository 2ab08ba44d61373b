"""How far a reported score outruns the score on fresh items, by what teams are told.

A team that learns nothing about captioning climbs a leaderboard all the same: it knows two captions
of every clip, from two systems of TRECVid VTT 2020, and learns from the board which of them scores
better. Half of the clips, drawn at random, are the board's; the other half is fresh. Two attacks:

- vote: every submission takes one of the two captions of each clip at random; the last one takes
  for each clip the side that was in more of the submissions that scored well.
- climb: every submission changes the choice of some clips in the best one so far, and keeps the
  change if the reported score has risen.

    python -m benchmarks overfitting
    REELSCORE_FIGURE=docs/_static/overfitting.svg python -m benchmarks overfitting
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.data import read_lines, trecvid_2020
from reelscore import score_systems
from reelscore.challenges.boards.ladder import Step, Told, tell
from reelscore.challenges.definition.records import Feedback
from reelscore.data.tables.table import Draws, MetricResult
from reelscore.stats.resampling import FloatArray

SYSTEMS = ("RUC_AIM3", "PicSOM")
METRIC = "cider"
SUBMISSIONS = (10, 30, 100, 300, 1000)
REPEATS = 20
RESAMPLES = 200  # of the standard error of `auto`
CHANGED = 0.05  # share of the clips that a step of the climb changes


class Mechanism(NamedTuple):
    """What a team is told."""

    name: str
    feedback: Feedback
    step: Step = None


MECHANISMS = (
    Mechanism("full", "full"),
    Mechanism("rounded to 0.01", "rounded", 0.01),
    Mechanism("ladder, step 0.01", "ladder", 0.01),
    Mechanism("ladder, step auto", "ladder", "auto"),
)


def two_captions() -> FloatArray:
    """The item scores of the two systems' captions: items × 2."""
    system, references = trecvid_2020()
    folder = system.parent
    lines = {name: read_lines(next(folder.glob(f"*.{name}"))) for name in SYSTEMS}
    texts = list(zip(*map(read_lines, references), strict=True))
    kept = [k for k in range(len(texts)) if all(lines[name][k].strip() for name in SYSTEMS)]
    table = score_systems(
        {name: {str(k): own[k] for k in kept} for name, own in lines.items()},
        {str(k): [text for text in texts[k] if text.strip()] for k in kept},
        METRIC,
    )
    return np.stack([table[name][METRIC].items.array for name in SYSTEMS], axis=1)


class Leaderboard:
    """One team's view of a board, and how its choices do on fresh items."""

    def __init__(self, scores: FloatArray, mechanism: Mechanism, rng: np.random.Generator) -> None:
        order = rng.permutation(len(scores))
        half = len(scores) // 2
        self.items, self.fresh = scores[order[:half]], scores[order[half : 2 * half]]
        self._mechanism = mechanism
        self._counts = rng.multinomial(half, np.full(half, 1 / half), size=RESAMPLES) / half
        self.told: Told | None = None

    def submit(self, choice: np.ndarray) -> float:
        """Take one of the two captions of every item, and read the reported score."""
        own = np.where(choice[: len(self.items)], self.items[:, 1], self.items[:, 0])
        draws = Draws.of_scores(METRIC, self._counts @ own)
        score = MetricResult(METRIC, float(own.mean()), draws=draws)
        self.told = tell(
            self._mechanism.feedback,
            "s",
            {METRIC: score},
            primary=METRIC,
            step=self._mechanism.step,
            before=self.told,
        )
        assert self.told is not None
        return self.told.scores[METRIC].score

    def on_fresh_items(self, choice: np.ndarray) -> float:
        """The score of the same submission on items that the board does not have."""
        own = choice[len(self.items) :]
        return float(np.where(own, self.fresh[:, 1], self.fresh[:, 0]).mean())


def vote(board: Leaderboard, submissions: int, rng: np.random.Generator) -> float:
    """Attack by voting; gives how far the last report outruns fresh items."""
    length = len(board.items) + len(board.fresh)
    choices = rng.integers(2, size=(submissions - 1, length)).astype(bool)
    reports = np.array([board.submit(choice) for choice in choices])
    if board._mechanism.feedback == "ladder":  # only what raised the score is known to be good
        weights = np.diff(reports, prepend=-np.inf) > 0
    else:
        weights = np.sign(reports - np.median(reports))
    votes = weights.astype(float) @ (2.0 * choices - 1)
    ties = rng.integers(2, size=length).astype(bool)
    last = np.where(votes == 0, ties, votes > 0)
    return board.submit(last) - board.on_fresh_items(last)


def climb(board: Leaderboard, submissions: int, rng: np.random.Generator) -> float:
    """Attack by steps; gives how far the best report outruns fresh items."""
    length = len(board.items) + len(board.fresh)
    best = rng.integers(2, size=length).astype(bool)
    report = board.submit(best)
    for _ in range(submissions - 1):
        changed = best ^ (rng.random(length) < CHANGED)
        told = board.submit(changed)
        if told > report:
            best, report = changed, told
    return report - board.on_fresh_items(best)


ATTACKS: dict[str, Callable[[Leaderboard, int, np.random.Generator], float]] = {
    "vote": vote,
    "climb": climb,
}


def outruns(scores: FloatArray) -> Iterator[tuple[str, str, int, float, float]]:
    """Run every attack on every mechanism; gives the mean and its standard error."""
    for attack, run in ATTACKS.items():
        for mechanism in MECHANISMS:
            for submissions in SUBMISSIONS:
                gains = []
                for repeat in range(REPEATS):
                    rng = np.random.default_rng([repeat, submissions])
                    gains.append(run(Leaderboard(scores, mechanism, rng), submissions, rng))
                error = float(np.std(gains, ddof=1) / np.sqrt(REPEATS))
                yield attack, mechanism.name, submissions, float(np.mean(gains)), error


def main() -> None:
    scores = two_captions()
    half = len(scores) // 2
    means = scores.mean(axis=0)
    print(
        f"{METRIC}: {half} clips on the board, {half} fresh, {REPEATS} random halves; "
        f"{SYSTEMS[0]} {means[0]:.4f}, {SYSTEMS[1]} {means[1]:.4f}, "
        f"the better caption of each clip {scores.max(axis=1).mean():.4f}"
    )
    results = list(outruns(scores))
    print()
    print("| attack | told | " + " | ".join(f"{n:,}" for n in SUBMISSIONS) + " |")
    print("|---|---|" + "---:|" * len(SUBMISSIONS))
    for attack in ATTACKS:
        for mechanism in MECHANISMS:
            own = [(m, e) for a, name, _, m, e in results if (a, name) == (attack, mechanism.name)]
            cells = " | ".join(f"{mean:+.3f} ± {error:.3f}" for mean, error in own)
            print(f"| {attack} | {mechanism.name} | {cells} |")
    if path := os.environ.get("REELSCORE_FIGURE"):
        draw(results, Path(path))


def draw(results: list[tuple[str, str, int, float, float]], path: Path) -> None:
    """Draw how far reported scores outrun fresh items."""
    from reelscore.report.plots.style import PALETTE, figure, save

    with figure(1, 2, width=6.9, height=2.7) as (drawing, panels):
        for panel, attack in zip(panels, ATTACKS, strict=True):
            for colour, mark, mechanism in zip(PALETTE, "osD^", MECHANISMS, strict=False):
                own = [r for r in results if r[:2] == (attack, mechanism.name)]
                panel.errorbar(
                    [r[2] for r in own],
                    [r[3] for r in own],
                    [2 * r[4] for r in own],
                    color=colour,
                    marker=mark,
                    label=mechanism.name,
                )
            panel.axhline(0, color="#1c1e21", linewidth=0.6)
            panel.set_xscale("log")
            panel.set_title(attack)
            panel.set_xlabel("submissions")
        panels[1].sharey(panels[0])
        panels[0].set_ylabel("CIDEr reported − on fresh items")
        panels[0].legend(loc="upper left")
        save(drawing, path)
