"""A folder of scores after an interruption: kept, finished, or refused by name."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from reelscore import DataError, Engine, score_shards
from reelscore.data import atomic_files
from reelscore.scoring.shards import partitions
from support import killed_scoring
from support.shards import candidate_rows, item_scores, reference_rows, write_shards

METRICS = "bleu,rouge_l,cider"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Shards of two systems in the current folder, cut into several parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(partitions, "_ROWS", 300)
    items = [f"v{k}" for k in range(400)]
    systems = {
        "one": {item: f"a man number {k % 37} walks" for k, item in enumerate(items)},
        "two": {item: f"a dog number {k % 11} runs" for k, item in enumerate(items)},
    }
    references = {item: [f"a man number {k % 23} runs"] for k, item in enumerate(items)}
    write_shards(tmp_path / "captions", candidate_rows(systems), 2)
    write_shards(tmp_path / "references", reference_rows(references), 2)
    return tmp_path


def scored(out="out", captions="captions", **options):
    options = {"metrics": METRICS, **options}
    engine = Engine("threads", workers=1)
    return score_shards(captions, "references", out=out, engine=engine, **options)


def contents(out):
    """All files that a run leaves, with their bytes."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def scores_of(table):
    return {
        (system, name): result.score
        for system, row in table.results.items()
        for name, result in row.items()
    }


def kill_and_finish(folder, counts):
    """Kill runs after some renamed files each, and finish; give what was seen."""
    command = ["score", "captions", "--refs", "references", "--parts", "killed", "-m", METRICS]
    command += ["--threads", "1"]
    output = subprocess.run(
        [sys.executable, killed_scoring.__file__, json.dumps(command), *map(str, counts)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [json.loads(line) for line in output.splitlines()]


def check_killed_runs(folder, counts):
    whole = scored("whole")
    *killed, finished = kill_and_finish(folder, counts)
    assert [run["ended"] for run in killed] == [-9] * len(counts)
    kept = {}
    for run in killed:
        assert "scores.json" not in run["shown"]
        files = {name: run["shown"][f"items/{name}"] for name in run["parts"]}
        assert kept.items() <= files.items()  # no part in the manifest was written again
        kept = files
    assert finished["ended"] == 0
    assert {f"items/{name}": inode for name, inode in kept.items()}.items() <= (
        finished["shown"].items()
    )
    assert item_scores(folder / "killed") == item_scores(folder / "whole")
    again = scored("killed")
    assert scores_of(again) == scores_of(whole)
    assert not (folder / "killed" / ".work").exists()
    return kept


def test_a_killed_run_goes_on_where_it_was(folder):
    # the first file is the manifest, four are cut shards; then come a part, its sums, a manifest
    assert len(check_killed_runs(folder, [2, 7, 12, 9])) == 3


@pytest.mark.full
def test_ten_kills(folder):
    check_killed_runs(folder, [1, 3, 5, 6, 7, 8, 9, 9, 11, 8])


def test_an_interrupted_run_keeps_its_parts(folder):
    done = []

    def interrupting(parts, of):
        done.append(parts)
        if parts == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scored(progress=interrupting)
    before = {path.name: path.stat().st_ino for path in (folder / "out" / "items").iterdir()}
    assert len(before) == 2
    counts = []
    table = scored(progress=lambda parts, of: counts.append((parts, of)))
    assert counts == [(0, 2), (1, 2), (2, 2)]  # from when all was read: for the rate
    assert (
        before.items()
        <= {path.name: path.stat().st_ino for path in (folder / "out" / "items").iterdir()}.items()
    )
    assert scores_of(table) == scores_of(scored("other"))


def test_a_finished_run_is_not_done_again(folder):
    first = scored(resamples=50)
    counts = []
    again = scored(resamples=50, progress=lambda *done: counts.append(done))
    assert counts == []
    assert scores_of(again) == scores_of(first)
    for system, row in first.results.items():
        for name, result in row.items():
            drawn = again[system][name].draws
            assert (drawn.sums == result.draws.sums).all()
            assert drawn.made == "resamples:50|seed:12345|resampling:poisson"


def test_a_damaged_part_is_scored_again(folder):
    def interrupting(parts, of):
        if parts == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scored(progress=interrupting)
    (folder / "out" / "items" / "part-00001.parquet").write_bytes(b"PAR1")
    assert scores_of(scored()) == scores_of(scored("other"))
    assert item_scores(folder / "out") == item_scores(folder / "other")


@pytest.mark.parametrize("name", ["items/part-00001.parquet", "scores.json", "draws.npz"])
@pytest.mark.parametrize("lost", [True, False])
def test_a_finished_run_that_lost_a_file_is_scored_again(folder, name, lost):
    scored("whole", resamples=20)
    first = scored(resamples=20)
    if lost:
        (folder / "out" / name).unlink()
    else:
        (folder / "out" / name).write_bytes(b"PAR1")
    again = scored(resamples=20)
    assert scores_of(again) == scores_of(first)
    assert contents(folder / "out") == contents(folder / "whole")


def other_captions(folder):
    rows = pq.read_table(folder / "captions" / "00.parquet").to_pylist()
    rows[0]["caption"] = "something else"
    write_shards(folder / "captions", rows, 1)
    return {}


def other_version(folder):
    path = folder / "out" / "manifest.json"
    path.write_text(path.read_text().replace('"version": "', '"version": "9'))
    return {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_captions, "begun with other candidates"),
        (other_version, r"begun with other version \(reelscore 9"),
        (lambda folder: {"metrics": "rouge_l"}, "begun with other metrics .*cider.*; now rouge_l"),
        (
            lambda folder: {"missing": "zero"},
            r"begun with other settings \(missing error; now missing zero\)",
        ),
    ],
)
def test_another_run_is_refused_by_name(folder, change, message):
    scored()
    options = change(folder)
    before = killed_scoring.shown(folder / "out")
    with pytest.raises(DataError, match=message):
        scored(**options)
    assert killed_scoring.shown(folder / "out") == before


def test_another_file_of_a_metric_is_refused(folder):
    counts = Path("counts.json")
    counts.write_text('{"documents": 2, "frequencies": {"a": 1}}')
    scored(metrics="cider|frequencies:counts.json")
    counts.write_text('{"documents": 3, "frequencies": {"a": 1}}')
    with pytest.raises(DataError, match=r"begun with other metrics .*files:.*; now .*files:"):
        scored(metrics="cider|frequencies:counts.json")


def test_shards_may_be_moved_and_renamed(folder):
    first = scored()
    (folder / "captions" / "00.parquet").rename(folder / "captions" / "000.parquet")
    (folder / "captions").rename(folder / "moved")
    assert scores_of(scored(captions="moved")) == scores_of(first)


def test_a_folder_with_other_files_is_refused(folder):
    (folder / "out").mkdir()
    (folder / "out" / "thesis.tex").write_text("")
    with pytest.raises(DataError, match=r"holds other files \(thesis.tex\)"):
        scored()
    assert [path.name for path in (folder / "out").iterdir()] == ["thesis.tex"]


def test_a_run_without_a_part_leaves_nothing(folder):
    rows = pq.read_table(folder / "captions" / "00.parquet").to_pylist()
    (folder / "empty").mkdir()
    for out in ("out", "empty"):
        write_shards(folder / "captions", [*rows, {**rows[0], "item": None}], 1)
        with pytest.raises(DataError, match="row 401: the item id is null"):
            scored(out)
        write_shards(folder / "captions", rows, 1)
        scored(out)  # the same folder, once the record is fixed
    assert scores_of(scored("empty")) == scores_of(scored("out"))


def test_a_killed_run_without_a_part_is_begun_again(folder):
    kill_and_finish(folder, [5])  # finished now: take its parts away, as if it had none
    manifest = json.loads((folder / "killed" / "manifest.json").read_text())
    manifest |= {"parts": [], "complete": False, "partitions": 1}
    (folder / "killed" / "manifest.json").write_text(json.dumps(manifest))
    other_captions(folder)
    assert scores_of(scored("killed")) == scores_of(scored("other"))
    assert item_scores(folder / "killed") == item_scores(folder / "other")


def test_two_runs_in_one_folder(folder):
    def second(parts, of):
        scored()

    with pytest.raises(DataError, match="another run is writing to it"):
        scored(progress=second)


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch):
    full = []

    def no_room(descriptor):
        name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if "part-00002" in name:
            full.append(name)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(atomic_files.os, "fsync", no_room)
        with pytest.raises(DataError, match=r"part-00002.*No space left on device"):
            scored()
    assert full
    names = sorted(path.name for path in (folder / "out" / "items").iterdir())
    assert names == ["part-00000.parquet", "part-00001.parquet"]
    assert "scores.json" not in killed_scoring.shown(folder / "out")
    assert scores_of(scored()) == scores_of(scored("other"))


def test_no_room_for_the_cut_shards(folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # as a full disk: writing fails
    try:
        with pytest.raises(DataError, match=r"arrow: cannot be written: File too large"):
            scored()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (folder / "out").exists()
