"""The papers' experiments: what is drawn, what stays the same, what the tables say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore import examples, score, stories
from reelscore.campaigns import Campaign
from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.cli.main import cli
from reelscore.data.stories import Story
from reelscore.errors import DataError
from reelscore.stories.overlaps import iou
from reelscore_studies import Setting, Study, study_counts, study_oracle, study_order
from reelscore_studies.stories.drawn_stories import (
    oracle_captions,
    self_bleu_of,
    shuffled,
    some_of,
    swapped,
    varied,
)
from reelscore_studies.stories.manual_evaluation import accuracies, comparisons
from reelscore_studies.stories.samples import crowd, generator
from reelscore_studies.stories.tables import study_grids

SYSTEMS, ANNOTATORS = examples.stories()
TRUTH = list(ANNOTATORS.values())
VERBOSE = {"verbose": SYSTEMS["verbose"]}


def counts(**options: Any) -> Study:
    return study_counts(VERBOSE, TRUTH, **{"repeats": 2, **options})


def of(study: Study, setting: str) -> Setting:
    return next(each for each in study.settings if each.setting == setting)


def test_studies_are_deterministic() -> None:
    assert counts() == counts()
    assert counts(seed=1).settings != counts(seed=2).settings
    order = [study_order(VERBOSE, TRUTH, repeats=2) for _ in range(2)]
    assert order[0] == order[1]
    assert counts(threads=1).settings == counts(threads=3).settings


def test_draws_do_not_depend_on_the_order_of_the_file() -> None:
    results = SYSTEMS["verbose"]["results"]
    turned = {"results": {v: results[v][::-1] for v in reversed(results)}}
    there = study_counts({"verbose": turned}, TRUTH, repeats=2)
    for one, other in zip(counts().settings, there.settings, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-12)


def test_counts_draw_what_they_say() -> None:
    study = counts(ratios=[0.1, 1], counts=[3, 10**6])
    assert [each.setting for each in study.settings] == ["m=0.1", "m=1", "k=3", "k=1000000", "all"]
    assert of(study, "k=3").captions == 3.0
    assert of(study, "m=1").ratio == 1.0
    assert of(study, "m=0.1").captions == 1.0  # at least one
    assert of(study, "k=1000000").scores == of(study, "all").scores
    whole = stories.score(SYSTEMS["verbose"], TRUTH, preset="soda-paper")
    for name, value in of(study, "all").scores.items():
        assert value == whole[name].score
    assert of(study, "all").spread["soda_c"] == 0.0
    assert of(study, "k=3").spread["soda_c"] > 0.0


def test_references_are_counted_as_the_protocol_sees_them() -> None:
    merged, mean = (of(counts(annotators=how), "m=1").captions for how in ("merge", "mean"))
    assert merged == pytest.approx(2 * mean, rel=0.2)


@pytest.mark.parametrize("bad", [{"ratios": [0]}, {"counts": [-1]}, {"repeats": 0}])
def test_bad_parameters(bad: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        counts(**bad)


def test_smaller_draws_are_parts_of_larger_ones() -> None:
    story = stories.stories_of(SYSTEMS["verbose"])["v_dogwash"]
    draws = [set(some_of(story, k, generator(1, 2, "v")).sentences) for k in (2, 5, 9)]
    assert draws[0] < draws[1] < draws[2]
    assert len(some_of(story, 99, generator(1, 2, "v"))) == len(story)


def test_varied_segments_keep_their_overlap() -> None:
    rng = np.random.default_rng(5)
    starts = rng.uniform(0, 90, 500)
    segments = np.column_stack([starts, np.minimum(starts + rng.uniform(0.01, 40, 500), 100)])
    segments[7] = [50.0, 50.0]
    story = Story(segments, ("a",) * 500, 100.0)
    moved = varied(story, rng)
    overlap = np.diag(iou(moved, segments))
    assert (np.delete(overlap, 7) > 0.7).all()
    assert moved[7].tolist() == [50.0, 50.0]
    assert moved.min() >= 0
    assert moved.max() <= 100
    assert overlap.std() > 0.05


def test_swap_and_shuffle() -> None:
    words = tuple("abcdefgh")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        changed = [k for k, word in enumerate(swapped(words, rng)) if word != words[k]]
        assert len(changed) == 2
        assert changed[1] == changed[0] + 1
        assert sorted(shuffled(words, rng)) == list(words)
    rng = np.random.default_rng(0)
    assert swapped(("a",), rng) == ("a",)
    assert swapped((), rng) == ()


def test_oracle_captions_are_the_best() -> None:
    ours = stories.stories_of(SYSTEMS["verbose"])["v_kayak"]
    truth = stories.stories_of(TRUTH[0])["v_kayak"]
    (oracle,), scores = oracle_captions([ours], [truth], stories.Protocol(f="rouge_l"))
    for caption, reference, best in zip(oracle, truth.sentences, scores, strict=True):
        each = {
            sentence: score({"x": sentence}, {"x": [reference]}, ["rouge_l"])["rouge_l"].score
            for sentence in ours.sentences
        }
        assert best == pytest.approx(max(each.values()))
        assert each[caption] == pytest.approx(best)


def test_oracle_of_the_truth_is_the_truth() -> None:
    study = study_oracle({"truth": TRUTH[0]}, TRUTH[0])
    assert study.settings[0].scores == pytest.approx(study.settings[1].scores)
    order = study_order({"truth": TRUTH[0]}, TRUTH[0], repeats=3)
    correct, swap, shuffle = order.settings
    assert correct.scores["soda_c"] > 0.7
    assert correct.scores["soda_c"] > swap.scores["soda_c"] > shuffle.scores["soda_c"]


def test_missing_videos_in_the_oracle() -> None:
    one = {"results": {"v_kayak": SYSTEMS["verbose"]["results"]["v_kayak"]}}
    zero, skip = (
        study_oracle({"one": one}, TRUTH[0], missing=how).settings[0].scores["f"]
        for how in ("zero", "skip")
    )
    assert 0 < zero < skip
    assert study_order({"one": one}, TRUTH[0], repeats=1).settings[0].captions > 1


def test_self_bleu_agrees_with_the_metric() -> None:
    texts = ["a man runs in a park", "a man runs in the park", "two dogs are swimming"]
    inside, over_all = self_bleu_of([texts])
    expected = score(dict(enumerate(texts)), metrics=["self_bleu"])["self_bleu"].score
    assert inside.tolist() == pytest.approx([expected])
    assert over_all == pytest.approx(expected)
    alone, over_all = self_bleu_of([["alone"], []])
    assert (alone.tolist(), over_all) == ([], 0.0)


def test_crowd() -> None:
    ours = stories.stories_of(SYSTEMS["concise"])
    truth = [stories.stories_of(each) for each in TRUTH]
    made = crowd(ours, truth, 50, seed=3)
    for video, story in made.items():
        assert len(story) == 50
        assert set(story.sentences) <= set(ours[video].sentences)
        assert (story.segments[:, 0] <= story.segments[:, 1]).all()
        assert story.segments.min() >= 0
    again = crowd(ours, truth, 50, seed=3)
    assert all((again[video].segments == made[video].segments).all() for video in made)


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    counts(ratios=[1], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_tables() -> None:
    ((_, grid),) = study_grids(counts())
    assert len(grid.rows) == 2 + 9
    assert "\\textbf" in grid.to_latex()
    ((_, grid),) = study_grids(study_order(VERBOSE, TRUTH, repeats=1))
    assert grid.rows[3][0].text == "SODA (c)"
    assert grid.rows[3][2].under.startswith("(−")


def test_commands(tmp_path: Path) -> None:
    files = [str(examples.path("stories/systems/verbose.json"))]
    files += [f"--refs={examples.path(f'stories/annotator_{k}.json')}" for k in (1, 2)]
    plot, plain, tex = (tmp_path / name for name in ("c.svg", "c.json", "c.tex"))
    outputs = ["--json", str(plain), "-o", str(tex)]
    drawn = ["--m", "1", "--k", "2", "--crowd", "30", "--repeats", "2", "-o", str(plot)]
    for name, options in {"counts": drawn, "order": ["--repeats", "2"], "oracle": []}.items():
        result = CliRunner().invoke(cli, ["stories", "study", name, *files, *options, *outputs])
        assert result.exit_code == 0, result.exception
        assert max(map(len, result.output.splitlines())) <= 80
        assert f"study:{name}|" in result.output
        assert json.loads(plain.read_text())["name"] == name
        assert "tabular" in tex.read_text()
    assert plot.read_text().startswith("<?xml")
    bad = CliRunner().invoke(cli, ["stories", "study", "counts", *files, "--m", "a"])
    assert "not a list of numbers" in bad.output


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_what_people_compare_and_who_agrees_with_them(tmp_path: Path) -> None:
    folder = examples.path("stories")
    files = [folder / "systems" / f"{name}.json" for name in ("concise", "verbose")]
    refs, kit = folder / "annotator_1.json", tmp_path / "kit"
    options = ("-o", kit, "--count", 4, "--most", 9, "--seconds", 0, 400)
    text = invoke("stories", "study", "people", *files, "-r", refs, *options)
    assert "4 of 5 videos that fit; 5 files" in text
    assert "0 test questions" in text  # they need two other videos
    truth = json.loads((kit / "references.json").read_text())
    retold = {
        name: json.loads((kit / f"{name}.json").read_text())["results"]
        for name in ("swap", "reverse", "oracle-concise")
    }
    for video, story in truth.items():
        said = {name: [c["sentence"] for c in each[video]] for name, each in retold.items()}
        assert said["reverse"] == story["sentences"][::-1]
        assert sorted(said["swap"]) == sorted(story["sentences"])
        moved = [a != b for a, b in zip(said["swap"], story["sentences"], strict=True)]
        assert sum(moved) == 2
        assert len(said["oracle-concise"]) == len(story["sentences"])
    with pytest.raises(DataError, match="5 videos of 0 to 400 seconds have 2 to 9 captions"):
        comparisons(SYSTEMS, TRUTH[0], videos=6, captions=(2, 9), seconds=(0, 400))

    database = tmp_path / "orders.db"
    pair = (kit / "swap.json", kit / "reverse.json")
    new = ("--stories", "--protocol", "preference", "--raters", 3, "--per-hit", 4, "--open")
    invoke("campaign", "new", database, *pair, *new)
    invoke("campaign", "simulate", database)
    with Campaign.open(database) as campaign:
        judgments = campaign.judgments(finished=True)
        [people] = score_all_preferences(judgments)
    first = people.table()
    name = first.metrics[0]
    right = {row.metric: row for row in accuracies(database, first)}
    assert right[name].accuracy == 1.0
    assert right[name].pair == ("reverse", "swap")
    assert right[name].ties == sum(mean == 0 for mean in people.items.values())
    share = 1 - right[name].ties / 8
    assert right[name].with_ties == pytest.approx(share)
    invoke("stories", *pair, "-r", kit / "references.json", "--json", tmp_path / "orders.json")
    text = invoke("stories", "study", "accuracy", database, tmp_path / "orders.json")
    assert "reverse over swap" in text
    assert "soda_c" in text
    assert "soda_c_precision" not in text


def test_differences_of_oracles_are_tested() -> None:
    study = study_oracle({"one": SYSTEMS["concise"], "two": SYSTEMS["concise"]}, TRUTH[0])
    assert [test.metric for test in study.tests] == ["f", "self_bleu"]
    assert all(test.p[0, 1] == pytest.approx(1) for test in study.tests)
    assert [test.better for test in study.tests] == ["high", "low"]
    assert study_oracle({"one": SYSTEMS["concise"]}, TRUTH[0]).tests == []
