"""The tables of the BERTHA paper, printed and recomputed twice.

*As published*: line numbers of the judgments counted from 0, one reference (HUMAN-B for the
multiple-annotator years, HUMAN-A for the single-annotator ones), text as it is, split at blanks.
*Right lines*: the captions that were judged, all references, Penn Treebank tokens.

BERTHA is recomputed with the right lines only, from the scores that models gave each year while it
was held out of their training: BERTHA-SA and BERTHA-MA by the paper's recipe with a smaller
encoder, BERTHA by that of the shipped model. Where these are not installed, there are the printed
values only.

SPICE of Tables 2 and 4 comes from counts of the official tool (at the end of this file),
as published with a second error besides the lines, and rightly with the same single reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.metrics.base import FloatArray
from reelscore.metrics.spice import TupleScore
from reelscore.scoring.captions import score
from reelscore.stats.correlations import pearson
from reelscore.text.tokens import Tokenizer
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.judged.trecvid_ha import FOLDERS, YEARS, Assessment
from reelscore_studies.published import published
from reelscore_studies.repro.judged_scores import Judged, williams_matrix
from reelscore_studies.repro.unseen_years import held_out_scores

# The metrics of the paper, by the names it gives them and by ours.
LEARNED = {"BERTHA-SA": "plain-sa", "BERTHA-MA": "plain-ma", "BERTHA": "bertha"}
METRICS = {
    "BLEU-4": "bleu_4",
    "SentBLEU": "sent_bleu",
    "CIDEr": "cider",
    "METEOR": "meteor",
    "ROUGE-L": "rouge_l",
}
SPICE = {"SPICE": "spice"}  # Tables 2 and 4 only
FUSED = ("BLEU-4", "CIDEr", "METEOR", "ROUGE-L")

Setting = Literal["as published", "right lines"]

SETTINGS: tuple[Setting, ...] = ("as published", "right lines")
_TEST_SHARE = 0.2  # of the captions, in Table 7
_ROUNDED = 0.00101  # the mean of four rounded cells is off by less, rounded itself
TOLERANCE = 0.002  # a printed cell is reproduced if it differs by less
_SCORED = "bleu,sent_bleu,cider,meteor,rouge_l"
_LEVELS: dict[str, tuple[str, str]] = {
    "1": ("SA", "system"),
    "2": ("MA", "system"),
    "3": ("SA", "caption"),
    "4": ("MA", "caption"),
}


@dataclass(frozen=True)
class Reproduction:
    """All tables: name of the table → setting or ``printed`` → row → values.

    Attributes:
        tables: Tables 1 to 7; columns are the years, in Table 5 annotators, in Table 7 folders.
        williams: For each kind of judgments and level, and setting: p-values of the metric in the
            row correlating better (in size) than that in the column, over all years.
        coefficients: Of the fusion in Table 7, by setting.
        seed: Random seed of the shuffled words and of the splits.
        human: People's scores of the captions of systems, by folder (Fig. 2).
    """

    tables: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
    williams: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
    coefficients: Mapping[str, Mapping[str, float]]
    seed: int
    human: Mapping[str, FloatArray] = field(default_factory=dict)

    def reproduced(
        self, table: str, metrics: Sequence[str] = (*FUSED, *SPICE)
    ) -> list[tuple[str, int]]:
        """Name the cells of a table whose printed value comes out again, as metric and column."""
        printed, again = self.tables[table]["printed"], self.tables[table]["as published"]
        return [
            (name, k)
            for name in metrics
            if name in again
            for k, (one, two) in enumerate(zip(printed[name], again[name], strict=True))
            if agrees(table, one, two)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "source": published("bertha")["source"],
            "seed": self.seed,
            "tables": self.tables,
            "williams": {"metrics": [*METRICS, *LEARNED], "p": self.williams},
            "coefficients": self.coefficients,
        }


def reproduce(
    path: str | Path, *, seed: int = 12345, splits: int = 20, progress: Progress | None = None
) -> Reproduction:
    """Recompute the tables."""
    judged: dict[tuple[Setting, str], Judged] = {}
    shuffled: dict[tuple[Setting, str], Judged] = {}
    for done, (setting, folder) in enumerate(product(SETTINGS, FOLDERS), start=1):
        judged[setting, folder] = _with_spice(path, _score(path, folder, setting), folder, setting)
        if folder.startswith("MA"):
            shuffled[setting, folder] = _score(path, folder, setting, seed)
        if progress is not None:
            progress(done, len(SETTINGS) * len(FOLDERS))
    masks = {folder: _automatic(path, folder) for folder in FOLDERS}
    kept = held_out_scores()
    if kept and any(len(kept[f"bertha|{f}"]) != len(mask) for f, mask in masks.items()):
        kept = None  # not the data the scores were kept of
    for folder, mask in masks.items() if kept else ():
        assert kept is not None
        key: tuple[Setting, str] = ("right lines", folder)
        judged[key] = _with_learned(judged[key], kept, folder, mask, "-own")
        if key in shuffled:
            shuffled[key] = _with_learned(shuffled[key], kept, folder, mask, "-shuffled")
    printed = published("bertha")["tables"]
    tables: dict[str, dict[str, Mapping[str, Sequence[float]]]] = {}
    for table, (kind, level) in _LEVELS.items():
        tables[table] = {"printed": printed[table]}
        for setting in SETTINGS:
            tables[table][setting] = _correlations(judged, setting, kind, level)
    tables["6"] = {"printed": printed["6"]}
    tables["7"] = {"printed": printed["7"]}
    coefficients = {"printed": printed["coefficients"]}
    for setting in SETTINGS:
        tables["6"][setting] = _correlations(shuffled, setting, "MA", "caption")
        by_folder = [judged[setting, folder] for folder in FOLDERS]
        tables["7"][setting], coefficients[setting] = fuse(by_folder, seed=seed, splits=splits)
    tables["5"] = {"printed": printed["5"], "right lines": single_annotators(path, kept)}
    tables = {name: tables[name] for name in sorted(tables)}
    matrices: dict[str, dict[str, list[list[float]]]] = {
        f"{kind}, {level} level": {
            setting: williams_by_level([judged[setting, f"{kind}-{year}"] for year in YEARS], level)
            for setting in SETTINGS
        }
        for kind, level in _LEVELS.values()
    }
    human = {folder: judged["right lines", folder].human for folder in FOLDERS}
    return Reproduction(tables, matrices, coefficients, seed, human)


def single_annotators(
    path: str | Path, kept: Mapping[str, FloatArray] | None = None
) -> dict[str, list[float]]:
    """Table 5: MA-2020 against each annotator's references, and against all five."""
    data = trecvid_ha.load(path, "MA-2020")
    names = ("METEOR", "CIDEr", "BLEU-4")
    correlations: dict[str, list[float]] = {name: [] for name in names}
    for annotators in [*([name] for name in data.annotators), None]:
        judged = score_judged(data, "bleu,cider,meteor", annotators=annotators)
        for name in names:
            correlations[name].append(judged.caption_level(METRICS[name]))
    if kept is not None:
        correlations["BERTHA-MA"] = [
            float(pearson(judged.human, kept[f"table5-{k}|MA-2020"])) for k in range(6)
        ]
    return correlations


def _automatic(path: str | Path, folder: str) -> NDArray[np.bool_]:
    """Return which of a folder's judged captions, people's included, are by automatic systems."""
    data = trecvid_ha.load(path, folder, people=True)
    return np.concatenate(
        [
            np.full(len(data.human[name]["z"].items), not name.startswith("HUMAN-"))
            for name in data.human.systems
        ]
    )


def _with_learned(
    judged: Judged,
    kept: Mapping[str, FloatArray],
    folder: str,
    automatic: NDArray[np.bool_],
    ending: str,
) -> Judged:
    """Add the scores kept of BERTHA to those of the other metrics."""
    more = {
        name: kept[f"{name}{ending}|{folder}"][automatic]
        for name in LEARNED.values()
        if f"{name}{ending}|{folder}" in kept
    }
    return Judged(judged.systems, judged.human, {**judged.metrics, **more})


def _with_spice(path: str | Path, judged: Judged, folder: str, setting: Setting) -> Judged:
    """Add the official tool's scores of SPICE, paired as the paper's authors must have."""
    reading: trecvid_ha.Reading = "as-published" if setting == "as published" else "aligned"
    data = trecvid_ha.load(path, folder, reading=reading)
    scores = official_scores(data)
    if scores is None:
        return judged
    if setting == "as published":
        scores = in_string_order(scores)
    more = {SPICE["SPICE"]: by_system_and_item(data, scores)}
    return Judged(judged.systems, judged.human, {**judged.metrics, **more})


def _score(path: str | Path, folder: str, setting: Setting, shuffle: int | None = None) -> Judged:
    if setting == "right lines":
        return score_judged(trecvid_ha.load(path, folder), _SCORED, shuffle=shuffle)
    return score_judged(
        trecvid_ha.load(path, folder, reading="as-published"),
        _SCORED,
        annotators=["HUMAN-B" if folder.startswith("MA") else "HUMAN-A"],
        tokenizer="none",
        shuffle=shuffle,
    )


def _correlations(
    judged: Mapping[tuple[Setting, str], Judged], setting: Setting, kind: str, level: str
) -> dict[str, list[float]]:
    correlations: dict[str, list[float]] = {}
    folders = [judged[setting, f"{kind}-{year}"] for year in YEARS]
    for name, metric in {**LEARNED, **METRICS, **SPICE}.items():
        if metric not in folders[0].metrics:
            continue
        by_level = Judged.system_level if level == "system" else Judged.caption_level
        correlations[name] = [by_level(folder, metric) for folder in folders]
    return correlations


def agrees(table: str, printed: float, again: float) -> bool:
    """Return whether a printed value of Tables 1 to 4 comes out again.

    >>> agrees("4", 0.064, -0.0641), agrees("2", 0.064, -0.0641)
    (True, False)
    """
    if table not in _LEVELS:  # shuffled words and random splits differ each time
        return False
    # Tables 3 and 4 print most correlations without their sign.
    near = abs(abs(printed) - abs(again)) if table in "34" else abs(printed - again)
    return near <= TOLERANCE


def mean_of_years(values: Sequence[float]) -> float:
    """Average the years as the paper does, without 2016."""
    return float(np.mean(values[1:]))


def odd_means() -> list[tuple[str, str, float, float]]:
    """List printed means that do not follow from the printed cells: table, row, both means.

    >>> [(table, row, printed) for table, row, printed, _ in odd_means()]
    [('1', 'ROUGE-L', 0.749), ('1', 'SPICE', -0.033), ('2', 'ROUGE-L', 0.642), ...]
    """
    printed = published("bertha")["tables"]
    return [
        (table, row, mean, mean_of_years(printed[table][row]))
        for table, means in printed["means"].items()
        for row, mean in means.items()
        if abs(mean - mean_of_years(printed[table][row])) > _ROUNDED
    ]


def williams_by_level(folders: Sequence[Judged], level: str) -> list[list[float]]:
    """Test every metric against every other, over all years together, on sizes of r."""

    def column(parts: Sequence[FloatArray]) -> FloatArray:
        if level == "system":
            parts = [judged.by_system(part) for judged, part in zip(folders, parts, strict=True)]
        return np.concatenate(parts)

    names = [m for m in (*METRICS.values(), *LEARNED.values()) if m in folders[0].metrics]
    scores = [column([judged.metrics[m] for judged in folders]) for m in names]
    return williams_matrix(column([judged.human for judged in folders]), scores, absolute=True)


# Table 7: metrics fused by linear regression


def fuse(
    folders: Sequence[Judged], *, seed: int = 12345, splits: int = 1
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Fuse metrics by linear regression on four fifths of every folder, and test on the rest.

    As in the paper, metrics run from 0 to 1 (CIDEr is divided by 10), the target is people's
    score scaled to 0–1 in each folder, and all folders train one regression. BERTHA's scores of
    training captions come from models that saw test captions of other years.

    >>> rng = np.random.default_rng(0)
    >>> scores = {METRICS[name]: rng.random(200) for name in FUSED}
    >>> few = Judged(np.repeat(["a", "b"], 100), scores["meteor"] - scores["bleu_4"], scores)
    >>> correlations, coefficients = fuse([few])
    >>> round(correlations["Fusion"][0], 3), coefficients["METEOR"] > 0 > coefficients["BLEU-4"]
    (1.0, True)
    """
    rng = np.random.default_rng(seed)
    learned = ["BERTHA"] if all("bertha" in folder.metrics for folder in folders) else []
    fused = [*learned, *FUSED]
    inputs = [_inputs(folder, fused) for folder in folders]
    targets = [_to_unit(folder.human) for folder in folders]
    names = [*fused, "Fusion"]
    measured = np.zeros((splits, len(names), len(folders)))
    weights = np.zeros((splits, len(fused)))
    for split in range(splits):
        orders = [rng.permutation(len(target)) for target in targets]
        cuts = [round(_TEST_SHARE * len(order)) for order in orders]
        train = [order[cut:] for order, cut in zip(orders, cuts, strict=True)]
        x = np.concatenate([rows[k] for rows, k in zip(inputs, train, strict=True)])
        y = np.concatenate([target[k] for target, k in zip(targets, train, strict=True)])
        solution = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0]
        weights[split] = solution[:-1]
        for f, (order, cut) in enumerate(zip(orders, cuts, strict=True)):
            rows, target = inputs[f][order[:cut]], targets[f][order[:cut]]
            columns = np.column_stack([rows, rows @ weights[split]])
            measured[split, :, f] = [float(pearson(target, column)) for column in columns.T]
    correlations = dict(zip(names, measured.mean(axis=0).tolist(), strict=True))
    return correlations, dict(zip(fused, weights.mean(axis=0).tolist(), strict=True))


def _inputs(judged: Judged, names: Sequence[str]) -> FloatArray:
    """Scores from 0 to 1: CIDEr a tenth, BERTHA from its least to its greatest."""
    columns = []
    for name in names:
        scores = judged.metrics[{**METRICS, **LEARNED}[name]]
        columns.append(_to_unit(scores) if name == "BERTHA" else scores)
    return np.column_stack(columns) / np.where([n == "CIDEr" for n in names], 10.0, 1.0)


def _to_unit(values: FloatArray) -> FloatArray:
    scaled: FloatArray = (values - values.min()) / np.ptp(values)
    return scaled


# The SPICE row in Tables 2 and 4, and the two errors in it.
#
# The official tool's counts for every caption judged by several people (MA) are kept beside the
# printed tables: correct tuples, tuples of the candidate, tuples of the reference (HUMAN-B, text as
# it was written), once for the captions one line off that the paper used, once for the right ones.
#
# The printed row comes out if, besides the line shift, the scores are paired with the judgments in
# another order. pycocoevalcap returns the scores of SPICE in the order of sorted ids, those of its
# other metrics in the order given: rows numbered "1", "2", … "1540" come back as "1", "10", …

_FILE = "bertha_spice.npz"


def official_scores(data: Assessment) -> FloatArray | None:
    """Return the official tool's scores of a folder's judged captions, in the order of its file."""
    with (
        as_file(files("reelscore_studies.published").joinpath(_FILE)) as path,
        np.load(path, allow_pickle=False) as stored,
    ):
        name = f"{data.folder}|{data.reading}"
        if name not in stored or stored[f"{name}|rows"].tobytes() != _fingerprint(data.rows):
            return None
        counts = stored[name].tolist()
    return np.array([TupleScore.of(*row).f for row in counts])


def in_string_order(scores: FloatArray) -> FloatArray:
    """Scores as they come back for rows numbered from 1, the numbers sorted as strings.

    >>> in_string_order(np.arange(1.0, 13.0)).astype(int).tolist()
    [1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return scores[sorted(range(len(scores)), key=lambda row: str(row + 1))]


def by_system_and_item(data: Assessment, scores: FloatArray) -> FloatArray:
    """Bring scores from the order of the file into that of `Judged`."""
    of_row = dict(zip(data.rows, scores.tolist(), strict=True))
    return np.array(
        [
            of_row[system, item]
            for system in data.human.systems
            for item in data.human[system]["z"].items
        ]
    )


def write_counts(
    path: str | Path, counts: Sequence[tuple[Assessment, Sequence[Sequence[int]]]]
) -> None:
    """Keep counts of the official tool, a row for each of a folder's judged captions."""
    arrays = {}
    for data, rows in counts:
        name = f"{data.folder}|{data.reading}"
        arrays[name] = np.array(rows, dtype=np.uint8)
        arrays[f"{name}|rows"] = np.frombuffer(_fingerprint(data.rows), dtype=np.uint8)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def _fingerprint(rows: Sequence[tuple[str, str]]) -> bytes:
    return hashlib.blake2b(repr(list(rows)).encode(), digest_size=8).digest()


def score_judged(
    data: Assessment,
    metrics: str,
    *,
    annotators: Sequence[str] | None = None,
    tokenizer: Tokenizer = "ptb",
    shuffle: int | None = None,
) -> Judged:
    """Score the judged captions, each as a separate item.

    That is how the published correlations were made. It only matters for CIDEr, which counts a
    reference as often as captions of its video were judged.

    >>> from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
    >>> z = MetricResult("z", 0.25, ItemScores.of({"1": 0.5, "2": 0.0}), "")
    >>> few = Assessment("SA-2016", "aligned", ["1", "2"], {"me": {"1": "a man", "2": "a dog"}},
    ...                  {"HUMAN-A": {"1": "a man", "2": "two cats"}},
    ...                  ScoreTable({"me": {"z": z}}), {}, {})
    >>> score_judged(few, "rouge_l").metrics["rouge_l"].tolist()
    [1.0, 0.0]
    """
    references = data.references(annotators)
    keys = [(name, item) for name in data.human.systems for item in data.human[name]["z"].items]
    captions = [data.candidates[name][item] for name, item in keys]
    if shuffle is not None:
        rng = np.random.default_rng(shuffle)
        captions = [" ".join(rng.permutation(caption.split())) for caption in captions]
    numbers = [str(k) for k in range(len(keys))]
    scores = score(
        dict(zip(numbers, captions, strict=True)),
        {number: references[item] for number, (_, item) in zip(numbers, keys, strict=True)},
        metrics,
        tokenizer=tokenizer,
    )
    return Judged(
        np.array([name for name, _ in keys]),
        np.concatenate([data.human[name]["z"].items.array for name in data.human.systems]),
        {name: result.items.array for name, result in scores.items()},
    )
