"""The real TRECVid human assessments: counts, line maps, the audit, and published numbers.

Line maps and counts were found independently, by comparing files with other tools.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reelscore import score_systems
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.meta.audit import METRIC, audit_captions, quick_audit
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.judged.trecvid_ha import FOLDERS, YEARS, load
from reelscore_studies.published import published
from reelscore_studies.repro.bertha import (
    FUSED,
    Reproduction,
    by_system_and_item,
    in_string_order,
    official_scores,
    reproduce,
)
from reelscore_studies.repro.direct_assessment import replicate
from reelscore_studies.repro.figures import draw_figures
from reelscore_studies.repro.judged_scores import Judged
from reelscore_studies.repro.tables import table_grid

pytestmark = pytest.mark.shared

# lines, systems judged (people's not counted), annotators, judged captions, with people's, urls
COUNTS = {
    "SA-2016": (1873, 5, 1, 5810, 6640, 1873),
    "SA-2017": (1880, 13, 1, 20580, 22440, 1880),
    "SA-2018": (1903, 8, 5, 3444, 5283, 1903),
    "SA-2019": (2054, 10, 5, 7441, 10960, 0),
    "SA-2020": (1700, 6, 5, 6420, 10760, 0),
    "MA-2016": (1760, 5, 1, 1540, 1540, 1760),
    "MA-2017": (1773, 13, 1, 1540, 1540, 1773),
    "MA-2018": (1881, 8, 5, 1540, 1540, 1881),
    "MA-2019": (2054, 10, 5, 1540, 1760, 0),
    "MA-2020": (1700, 6, 5, 1540, 1540, 0),
}
# Lines of SA, from 0 on, that MA leaves out: how many, the last, their sum; 2018 in full below.
LEFT_OUT = {2016: (113, 1857, 119833), 2017: (107, 1877, 94103), 2018: (22, 1777, 22389)}
LEFT_OUT_2018 = (
    "216 639 673 897 975 1023 1024 1028 1034 1045 1048 1051 1052 1055 1063 1066 1074 1090 1100 "
    "1106 1353 1777"
)
# With the captions that were judged, all references, Penn Treebank tokens; MA 2016–2020.
CORRECTED = {
    "METEOR": (0.256, 0.341, 0.477, 0.520, 0.500),
    "CIDEr": (0.329, 0.310, 0.420, 0.481, 0.561),
    "BLEU-4": (0.178, 0.106, 0.244, 0.268, 0.210),
    "ROUGE-L": (0.123, 0.250, 0.369, 0.412, 0.393),
}


@pytest.fixture(scope="module")
def reproduction(trecvid_folder: Path, full: bool) -> Reproduction:
    return reproduce(trecvid_folder, splits=20 if full else 1)


@pytest.mark.parametrize("folder", FOLDERS)
def test_counts(trecvid_folder: Path, folder: str) -> None:
    data, with_people = load(trecvid_folder, folder), load(trecvid_folder, folder, people=True)
    judged, more = (
        sum(len(row["z"].items) for row in each.human.results.values())
        for each in (data, with_people)
    )
    counts = len(data.items), len(data.candidates), len(data.annotators), judged, more
    assert (*counts, len(data.urls)) == COUNTS[folder]


@pytest.mark.parametrize("year", LEFT_OUT)
def test_line_maps(trecvid_folder: Path, year: int) -> None:
    many, single = load(trecvid_folder, f"MA-{year}"), load(trecvid_folder, f"SA-{year}")
    gone = sorted(set(range(len(single.items))) - {int(item) - 1 for item in many.items})
    assert (len(gone), gone[-1], sum(gone)) == LEFT_OUT[year]
    if year == 2018:
        assert gone == [int(line) for line in LEFT_OUT_2018.split()]
    # The files of addresses were cut by the same map.
    assert all(many.urls[item] == single.urls[item] for item in many.items)


@pytest.mark.parametrize("folder", FOLDERS)
def test_audit(trecvid_folder: Path, folder: str, full: bool) -> None:
    """As published, every folder is found a line off; as loaded, none is; nor are controls."""
    aligned = load(trecvid_folder, folder)
    published = load(trecvid_folder, folder, reading="as-published")
    table = score_systems(aligned.candidates, aligned.references(), METRIC)
    verdict = quick_audit(table, published.human)
    assert (verdict.kind, verdict.shift) == ("shifted", -1)
    assert verdict.z > 8
    assert quick_audit(table, aligned.human).kind == "aligned"
    rng = np.random.default_rng(7)
    for _ in range(40 if full else 2):
        assert quick_audit(table, _shuffled(aligned.human, rng)).kind == "cannot tell"


@pytest.mark.parametrize(
    "folder",
    [
        each if each in ("SA-2016", "MA-2018") else pytest.param(each, marks=pytest.mark.full)
        for each in FOLDERS
    ],
)
def test_audit_of_captions(trecvid_folder: Path, folder: str) -> None:
    data = load(trecvid_folder, folder, reading="as-published")
    audit = audit_captions(data.candidates, data.references(), data.human)
    assert audit.references is not None
    assert audit.references[0].kind == "aligned"
    assert (audit.verdict.kind, audit.verdict.shift) == ("shifted", -1)
    assert np.unravel_index(audit.grid.argmax(), audit.grid.shape) == (2, 2)  # both by -1


def test_references_of_the_wrong_lines_are_found(trecvid_folder: Path) -> None:
    """MA-2018 ships references of all videos beside captions of some: taken line by line."""
    single, many = load(trecvid_folder, "SA-2018"), load(trecvid_folder, "MA-2018")
    by_line = {
        name: {str(k): caption for k, caption in enumerate(captions.values(), start=1)}
        for name, captions in many.candidates.items()
    }
    audit = audit_captions(by_line, single.references())
    assert audit.verdict.kind == "mixed"
    assert audit.verdict.blocks[0] == 0
    assert audit.verdict.blocks[-1] == 22
    assert "1,881 captions, the references 1,903 items" in audit.notes[0]


def test_published_cells(reproduction: Reproduction) -> None:
    cells = {table: reproduction.reproduced(table) for table in ("2", "4")}
    assert sum(map(len, cells.values())) == 47
    missed = [
        (table, name, YEARS[k])
        for table, reproduced in cells.items()
        for name in (*FUSED, "SPICE")
        for k in range(5)
        if (name, k) not in reproduced
    ]
    assert missed == [("2", "BLEU-4", 2020), ("2", "ROUGE-L", 2017), ("4", "ROUGE-L", 2017)]


def test_the_row_of_spice(trecvid_folder: Path) -> None:
    """Published: a line off, and paired in the order of row numbers sorted as strings."""
    printed = published("bertha")["tables"]
    right = {
        "caption": [0.275, 0.267, 0.317, 0.367, 0.329],
        "system": [0.100, 0.809, 0.959, 0.914, 0.974],
    }
    for k, year in enumerate(YEARS):
        off = trecvid_ha.load(trecvid_folder, f"MA-{year}", reading="as-published")
        published_scores = official_scores(off)
        assert published_scores is not None
        paired = _judged(off, in_string_order(published_scores))
        assert abs(paired.caption_level("spice")) == pytest.approx(
            printed["4"]["SPICE"][k], abs=0.00105
        )
        assert paired.system_level("spice") == pytest.approx(printed["2"]["SPICE"][k], abs=0.00105)
        on = trecvid_ha.load(trecvid_folder, f"MA-{year}")
        right_scores = official_scores(on)
        assert right_scores is not None
        judged = _judged(on, right_scores)
        assert judged.caption_level("spice") == pytest.approx(right["caption"][k], abs=0.0006)
        assert judged.system_level("spice") == pytest.approx(right["system"][k], abs=0.0006)


def _judged(data: trecvid_ha.Assessment, scores: np.ndarray) -> Judged:
    keys = [(name, item) for name in data.human.systems for item in data.human[name]["z"].items]
    human = np.array([data.human[name]["z"].items[item] for name, item in keys])
    systems = np.array([name for name, _ in keys])
    return Judged(systems, human, {"spice": by_system_and_item(data, scores)})


def test_right_lines(reproduction: Reproduction) -> None:
    for name, expected in CORRECTED.items():
        values = reproduction.tables["4"]["right lines"][name]
        assert values == pytest.approx(expected, abs=0.0006), name


def test_every_caption_level_correlation_rises(reproduction: Reproduction) -> None:
    for table in ("3", "4"):
        for name in FUSED:
            before = reproduction.tables[table]["as published"][name]
            after = reproduction.tables[table]["right lines"][name]
            assert all(b < a for b, a in zip(before, after, strict=True)), (table, name)


def test_means_that_the_paper_states(reproduction: Reproduction) -> None:
    """The caption of Table 1 says what the mean is of, section 4.2 the means of the judgments."""
    rows = table_grid(reproduction, "2").to_text().splitlines()
    means = {line.split(",")[0]: line.split()[-1] for line in rows if ", printed" in line}
    assert means["ROUGE-L"] == "0.642≠"  # its cells give .833
    assert means["METEOR"] == "0.900"
    for kind, mean in (("SA", -0.28), ("MA", -0.26)):  # the paper has -.28 and -.25
        scores = np.concatenate([reproduction.human[f"{kind}-{year}"] for year in YEARS])
        assert scores.mean() == pytest.approx(mean, abs=0.005)


def test_figures(reproduction: Reproduction, tmp_path: Path) -> None:
    files = draw_figures(reproduction, tmp_path, "png")
    assert len(files) == 9
    assert all(file.stat().st_size > 10_000 for file in files)


def test_captions_of_the_second_crowd(trecvid_folder: Path) -> None:
    """METEOR alone of Table 6 comes out; of Table 1, that people write unlike most systems."""
    again = replicate(trecvid_folder)
    printed, here = again.metrics["meteor"]
    assert here == pytest.approx(printed, abs=0.02)
    assert again.metrics["bleu_4"][1] < 0 < again.metrics["bleu_4"][0]
    below = [name for name, (_, alike) in again.likeness.items() if alike < 0.1]
    assert sorted(below) == ["Human-b", "Sheffield"]
    assert sorted(again.likeness, key=lambda name: again.likeness[name][0])[:2] == [
        "Human-b",
        "Sheffield",
    ]


def test_second_crowd(trecvid_folder: Path) -> None:
    correlations = replicate(trecvid_folder).correlations
    assert {scale: round(r, 3) for scale, (r, _) in correlations.items()} == {
        "raw": 0.995,
        "z": 0.997,
    }


def _shuffled(human: ScoreTable, rng: np.random.Generator) -> ScoreTable:
    rows = {}
    for name, row in human.results.items():
        scores = row["z"].items
        mixed = ItemScores(scores.index, rng.permutation(scores.array))
        rows[name] = {"z": MetricResult("z", 0.0, mixed, "")}
    return ScoreTable(rows)
