"""Scores from shards are those of captions in memory, to the last bit, however work is cut."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from msgspec import structs

import reelscore
from reelscore.data.captions.shards import shards_of
from reelscore.engines import Engine
from reelscore.errors import DataError
from reelscore.metrics.base import column_sums
from reelscore.report.tables.leaderboard import leaderboard, leaderboard_csv
from reelscore.scoring.intervals import with_intervals
from reelscore.scoring.shards import partitions
from reelscore.scoring.shards.pipeline import score_files
from reelscore.scoring.shards.reference_counts import GatheredPart
from support.shards import candidate_rows, item_scores, reference_rows, write_shards

METRICS = "bleu,meteor,rouge_l,cider"
WORDS = ["a", "man", "two", "dogs", "run", "sleeps", "on", "the", "red", "car", "while", "children"]


def made_up(rng, count):
    return {f"clip {k}": " ".join(rng.choices(WORDS, k=rng.randint(2, 14))) for k in range(count)}


@pytest.fixture(scope="module")
def captions():
    """Two systems, and one to three references of each item."""
    rng = random.Random(3)
    references = {item: [text] for item, text in made_up(rng, 700).items()}
    for other in (made_up(rng, 700), made_up(rng, 300)):
        for item, text in other.items():
            references[item].append(text)
    return {"ours": made_up(rng, 700), "naïve": made_up(rng, 700)}, references


@pytest.fixture(scope="module")
def in_memory(captions):
    return reelscore.score_systems(*captions, METRICS)


def check(table, out, in_memory):
    for system in in_memory.systems:
        for name, result in in_memory[system].items():
            assert table[system][name].score == result.score, (system, name)
    scores = item_scores(out)
    assert len(scores) == 1400
    for (system, item), row in scores.items():
        assert row == {name: each.items[item] for name, each in in_memory[system].items()}


@pytest.mark.parametrize(
    ("kind", "shards", "rows", "workers"),
    [("parquet", 1, 10_000, 1), ("parquet", 5, 400, 2), ("jsonl", 3, 90, 3)],
)
def test_scores_are_those_of_memory(
    captions, in_memory, tmp_path, monkeypatch, kind, shards, rows, workers
):
    monkeypatch.setattr(partitions, "_ROWS", rows)
    systems, references = captions
    shuffled = candidate_rows(systems)
    random.Random(shards).shuffle(shuffled)
    table = score_files(
        [write_shards(tmp_path / "captions", shuffled, shards, kind)],
        [write_shards(tmp_path / "references", reference_rows(references), shards, kind)],
        METRICS,
        engine=Engine("threads", workers=workers),
        out=tmp_path / "out",
    )
    check(table, tmp_path / "out", in_memory)
    assert (
        len(list((tmp_path / "out" / "items").iterdir())) == -(-(1400 + 1700) // rows)
        or kind == "jsonl"
    )


def test_lists_of_references_and_a_file_for_each_system(captions, in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_ROWS", 1000)
    systems, references = captions
    files = {}
    for name, own in systems.items():
        rows = [{"video_id": item, "prediction": text} for item, text in own.items()]
        files[name] = write_shards(tmp_path / name, rows, 2)
    rows = [{"video_id": item, "refs": texts} for item, texts in references.items()]
    truth = write_shards(tmp_path / "references", rows, 2, "jsonl")
    table = score_files(files, [truth], METRICS, out=tmp_path / "out")
    check(table, tmp_path / "out", in_memory)


def test_fractions_are_added_by_the_tree_of_memory():
    # what `totals` relies on: numpy adds a column by itself as it adds it among others
    rng = np.random.default_rng(0)
    for count in (1, 7, 8, 9, 127, 129, 1000, 100_003):
        rows = rng.random((count, 3))
        assert column_sums(rows).tolist() == [column.copy().sum() for column in rows.T]


def test_what_is_gathered_can_be_sent_to_another_machine(
    captions, in_memory, tmp_path, monkeypatch
):
    monkeypatch.setattr(partitions, "_ROWS", 500)
    sent = []

    class Pickling:
        """An engine that hands over copies, as one with other processes does."""

        is_local = False

        def check_files(self, paths):
            assert all(Path(path).exists() for path in paths)

        def broadcast(self, value):
            sent.append(value)
            return pickle.dumps(value)

        def map(self, function, batches, shared):
            for batch in batches:
                result = function(pickle.loads(pickle.dumps(batch)), pickle.loads(shared))
                yield pickle.loads(pickle.dumps(result))

    systems, references = captions
    table = score_files(
        [write_shards(tmp_path / "captions", candidate_rows(systems))],
        [write_shards(tmp_path / "references", reference_rows(references))],
        METRICS,
        engine=Pickling(),
        out=tmp_path / "out",
    )
    check(table, tmp_path / "out", in_memory)
    assert any(isinstance(getattr(value, "gathered", None), GatheredPart) for value in sent)


def test_intervals_are_close_to_those_of_memory(captions, in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_ROWS", 1000)
    table = reelscore.score_shards(*captions, METRICS, out=tmp_path / "out", resamples=1000)
    large, small = with_intervals(table), with_intervals(in_memory)
    for system in small.systems:
        for name, result in small[system].items():
            low, high = result.interval
            near = pytest.approx((low, high), abs=0.15 * (high - low))
            assert large[system][name].interval == near, (system, name)


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("self_bleu", {}, "self_bleu looks at all captions of a system together"),
        (
            "judge|model:m",
            {"engine": SimpleNamespace(is_local=False)},
            "judge keeps its answers in a journal, which one process writes",
        ),
        ("rouge_l", {"tokenizer": "ptb-coco"}, "looks ahead into the next caption"),
    ],
)
def test_what_needs_all_captions_at_once_is_refused(tmp_path, metrics, options, message):
    with pytest.raises(DataError, match=message):
        score_files([tmp_path], [tmp_path], metrics, **options)


def test_slow_metrics_get_small_partitions(captions, tmp_path):
    folder = write_shards(tmp_path / "captions", candidate_rows(captions[0]), 1)
    shards = shards_of([folder], "candidates", None)
    assert partitions.partition_count(shards) == 1
    many = [structs.replace(shard, rows=10_000) for shard in shards]
    assert partitions.partition_count(many) == 1
    assert partitions.partition_count(many, slow=True) == 3


def test_systems_on_different_items_are_not_compared(captions, tmp_path):
    systems, references = captions
    first, second, *_ = systems
    items = list(references)
    fewer = {
        first: {item: systems[first][item] for item in items[:10]},
        second: {item: systems[second][item] for item in items[-10:]},
    }
    options = {"metrics": "rouge_l", "missing": "skip", "out": tmp_path / "out", "resamples": 20}
    for _ in range(2):  # fresh, and as it was kept
        table = reelscore.score_shards(fewer, references, **options)
        assert table.notes[-1] == (
            "Systems were scored on different items; to score all on those they share, score in "
            "memory with common=True."
        )
        with pytest.raises(DataError, match="were scored on different items; a paired test needs"):
            reelscore.compare(table, tests=["bootstrap"], resamples=20)


def test_systems_on_different_items_are_marked_as_in_memory(captions, tmp_path, monkeypatch):
    systems, references = captions
    items = list(references)[:-20]  # the last have no caption by any system
    fewer = {
        "all": {item: systems["ours"][item] for item in items},
        "first": {item: systems["ours"][item] for item in items[:400]},
        "last": {item: systems["naïve"][item] for item in items[300:]},
    }
    monkeypatch.setattr(partitions, "_ROWS", 500)  # several parts
    options = {"metrics": "rouge_l,bleu", "missing": "skip"}
    here = reelscore.score_systems(fewer, references, **options)
    expected = leaderboard(here)
    assert [row[0].mark for row in expected.rows] == ["", "†", "†"]
    assert "first was scored on 400 of 680 items" in expected.notes[0]
    for _ in range(2):  # fresh, and as it was kept
        there = reelscore.score_shards(fewer, references, out=tmp_path / "out", **options)
        assert leaderboard(there) == expected
        assert leaderboard_csv(there) == leaderboard_csv(here)
    stored = reelscore.ScoreTable.read(tmp_path / "out" / "scores.json")
    assert leaderboard(stored) == expected


def test_captions_in_another_language_are_noted_as_in_memory(tmp_path):
    texts = ["一个男人在跑步", "两只狗在雪地里玩耍", "一个女人在切洋葱"]
    captions = {f"v{k}": texts[k % 3] for k in range(30)}
    references = {item: [text[:-1]] for item, text in captions.items()}
    here = reelscore.score_systems({"ours": captions}, references, "meteor,bleu")
    there = reelscore.score_shards(
        {"ours": captions}, references, "meteor,bleu", out=tmp_path / "out"
    )
    assert "ours and references are not English but Chinese: meteor" in here.notes[0]
    assert there.notes == here.notes
