"""SPICE against the official tool's output on real captions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reelscore import score
from reelscore.compat import coco
from reelscore.metrics import score_tuples
from reelscore.metrics.spice import Spice
from reelscore.stats import pearson
from reelscore.text.parser.facts import tree_facts
from reelscore.text.parser.scene_graph import SceneGraph, match, read_concepts
from reelscore.text.parser.trees import read_trees

pytestmark = pytest.mark.shared

SCORED = ["hand", "hand_nosyn", "vtt_ptb", "vtt_raw", "vtt_nosyn", "systems", "tuples"]
KINDS = {
    "Object": "spice_object",
    "Attribute": "spice_attribute",
    "Relation": "spice_relation",
    "Cardinality": "spice_cardinality",
}


def lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


@pytest.fixture(scope="module")
def spice(shared: Path) -> Path:
    folder = shared / "spice"
    if not folder.is_dir():
        pytest.skip(f"the official tool's output is not at {folder}")
    return folder


@pytest.mark.parametrize("name", SCORED)
def test_every_number_of_the_official_tool(spice, report, name):
    """From its tuples: every truth value, count, score and sub-score, to the last digit."""
    path = spice / f"{name}.jsonl.gz"
    synsets = not name.endswith("nosyn")
    rows = list(lines(path))
    metric = Spice(tuples=str(path), synsets="meteor-1.5" if synsets else None)
    results = score(
        {row["image_id"]: row["test"] for row in rows},
        {row["image_id"]: row["refs"] for row in rows},
        metrics=[metric],
        tokenizer="none",
    )
    tuples = 0
    for row in rows:
        item, official = row["image_id"], row["scores"]["All"]
        ours = [each["tuple"] for each in row["test_tuples"]]
        theirs = [each["tuple"] for each in row["ref_tuples"]]
        agreement = score_tuples(ours, theirs, synsets=synsets)
        tp, fp, fn = (official[count] for count in ("tp", "fp", "fn"))
        assert (agreement.correct, agreement.candidate, agreement.reference) == (
            tp,
            tp + fp,
            tp + fn,
        )
        assert agreement.f == results["spice"].items[item] == (official["f"] or 0)
        for kind, output in KINDS.items():
            own = results[output].items if output in results else {}
            assert own.get(item) == row["scores"][kind]["f"], (item, kind)
        places = match(
            read_concepts(ours, synsets=synsets),
            read_concepts(theirs, synsets=synsets),
            synsets=synsets,
        )
        truths = [each["truth_value"] for each in row["test_tuples"]]
        assert [place is not None for place in places] == truths
        truths = [each["truth_value"] for each in row["ref_tuples"]]
        assert [k in places for k in range(len(theirs))] == truths
        tuples += len(ours) + len(theirs)
    report(f"{name}: {len(rows)} items, {tuples:,} tuples as the official tool has them")


def test_dictionaries_of_the_coco_tools(spice, monkeypatch):
    """Those of each image, with ids that sort as strings; colours and sizes have our own lists."""
    path = spice / "vtt_ptb.jsonl.gz"
    rows = {row["image_id"]: row for row in lines(path)}
    monkeypatch.setattr(coco.spice, "Spice", partial(Spice, tuples=str(path)))
    gts = {image: rows[image]["refs"] for image in sorted(rows)}
    mean, scores = coco.Spice().compute_score(gts, {i: [row["test"]] for i, row in rows.items()})
    assert mean == pytest.approx(np.mean([row["scores"]["All"]["f"] for row in rows.values()]))
    for image, ours in zip(gts, scores, strict=True):
        for kind in ("All", *KINDS):
            official = {
                k: np.nan if v is None else v for k, v in rows[image]["scores"][kind].items()
            }
            assert ours[kind] == pytest.approx(official, abs=0, nan_ok=True), (image, kind)


@pytest.mark.parametrize(
    ("trees", "name", "least"), [("coco", "coco", 0.999), ("vtt", "tuples", 0.999)]
)
def test_tuples_from_official_trees(spice, report, trees, name, least):
    golden = list(lines(spice / f"{name}.jsonl.gz"))
    ours = theirs = both = exact = 0
    with gzip.open(spice / "trees" / f"{trees}.conllu.gz", "rt") as file:
        parsed = list(islice(read_trees(file), len(golden)))
    for tree, row in zip(parsed, golden, strict=True):
        tuples = canonical(SceneGraph(tree_facts(tree)).tuples)
        official = canonical(
            each["tuple"] if isinstance(each, dict) else each for each in row["test_tuples"]
        )
        ours, theirs, both = (
            ours + len(tuples),
            theirs + len(official),
            both + len(tuples & official),
        )
        exact += tuples == official
    f1 = 2 * both / (ours + theirs)
    report(f"{name}: F1 of tuples {f1:.4f}, {exact} of {len(golden)} captions exactly")
    assert f1 >= least


@pytest.mark.parametrize("name", ["vtt_ptb", "systems"])
def test_scores_with_our_parser(spice, report, name):
    """From captions alone: item by item, in the mean, and by system."""
    pytest.importorskip("reelscore_parser")
    rows = list(lines(spice / f"{name}.jsonl.gz"))
    results = score(
        {row["image_id"]: row["test"] for row in rows},
        {row["image_id"]: row["refs"] for row in rows},
        metrics=[Spice(kinds=None)],
        tokenizer="none",
    )
    official = np.array([row["scores"]["All"]["f"] or 0 for row in rows])
    ours = results["spice"].items.array
    r = float(pearson(official, ours))
    report(f"{name}: r {r:.3f}, means {official.mean():.4f} (official) and {ours.mean():.4f}")
    assert r >= 0.97
    assert ours.mean() == pytest.approx(official.mean(), abs=0.002)
    if name == "systems":
        systems = np.array([row["image_id"].partition("/")[0] for row in rows])
        means = [(official[systems == s].mean(), ours[systems == s].mean()) for s in set(systems)]
        assert [two for _, two in sorted(means)] == sorted(two for _, two in means)
        assert all(abs(one - two) <= 0.002 for one, two in means)


def canonical(tuples):
    return {tuple(frozenset(part.split("/")) for part in each) for each in tuples}
