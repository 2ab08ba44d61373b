"""audit, data, repro, similarity and analyse: what they print, write and refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.trecvid_copy import write_copy

FILES = "files/MA-2018"


@pytest.fixture
def copy(folder):
    return write_copy(folder / "copy")


@pytest.fixture
def files(copy, folder, run):
    """MA-2018 as files for other commands, as published and as it is meant."""
    run("data", "trecvid-ha", copy, "--export", "files")
    run("data", "trecvid-ha", copy, "--export", "wrong", "--reading", "as-published")
    return sorted((folder / FILES / "systems").iterdir())


def test_data_describes_all_folders(copy, run):
    status, out, _ = run("data", "trecvid-ha", copy)
    assert status == 0
    assert len(out.splitlines()) == 11
    assert out.splitlines()[8].split()[:6] == ["MA-2018", "77", "3", "5", "231", "3927"]


def test_data_audits_all_folders(copy, run, folder):
    pytest.importorskip("matplotlib")
    command = ("data", "trecvid-ha", copy, "--audit", "--reading", "as-published")
    status, out, _ = run(*command, "-o", "shifts.svg", "--json", "audit.json")
    assert status == 0
    assert out.count("shifted by −1") == 10
    assert (folder / "shifts.svg").stat().st_size > 10_000
    rows = json.loads((folder / "audit.json").read_text())
    assert [row["folder"] for row in rows][:2] == ["SA-2016", "SA-2017"]
    assert run("data", "trecvid-ha", copy, "-o", "x.svg")[0] == 2


def test_audit_says_what_is_wrong_and_where(files, run, folder):
    pytest.importorskip("matplotlib")
    captions = (*files, "-r", f"{FILES}/references.json")
    status, out, _ = run("audit", *captions, "--human", f"{FILES}/human_z.csv")
    assert status == 0
    assert out.splitlines()[-1].startswith("aligned (z = ")
    wrong = ("--human", "wrong/MA-2018/human_z.csv", "-o", "audit.png")
    status, out, _ = run("audit", *captions, *wrong)
    assert status == 1
    assert out.splitlines()[-1].startswith("shifted by −1 (z = ")
    assert (folder / "audit.png").exists()
    status, out, _ = run("audit", *captions, *wrong[:2], "--json", "-")
    assert json.loads(out)["judgments"]["shift"] == -1
    status, out, _ = run("audit", *captions)
    assert status == 0
    assert out.startswith("references: aligned")


def test_audit_of_score_tables(files, run, folder):
    run("score", *files, "-r", f"{FILES}/references.json", "-m", "rouge_l", "--table", "m.csv")
    status, out, _ = run("audit", "m.csv", "--human", "wrong/MA-2018/human_z.csv")
    assert (status, "shifted by −1" in out) == (1, True)
    assert run("audit", "m.csv", "--human", f"{FILES}/human_z.csv")[0] == 0
    status, _, err = run("audit", "m.csv")
    assert status == 2
    assert "--refs" in err
    assert run("audit", "m.csv", "--human", f"{FILES}/human_z.csv|column:x")[0] == 2


def test_audit_of_three_columns(files, run, folder):
    """Tables with system, item and score alone, as other tools write them."""
    run("score", *files, "-r", f"{FILES}/references.json", "-m", "rouge_l", "--table", "m.csv")
    for name in ("m.csv", "wrong/MA-2018/human_z.csv"):
        rows = [line.split(",") for line in (folder / name).read_text().splitlines()]
        kept = [",".join((s, i, x)) for s, i, _, x in rows if i]
        (folder / f"bare_{name.partition('/')[0]}").with_suffix(".csv").write_text("\n".join(kept))
    status, out, _ = run("audit", "bare_m.csv", "--human", "bare_wrong.csv")
    assert (status, "shifted by −1" in out) == (1, True)


def test_audit_of_scores_in_the_order_of_sorted_row_numbers(run, folder):
    """As of a tool that returns scores by sorted ids, given rows numbered "1", "2", …"""
    rng = np.random.default_rng(3)
    rows = [(system, str(item)) for item in range(80) for system in ("one", "two")]
    scores = rng.normal(size=len(rows))
    order = sorted(range(len(rows)), key=lambda row: str(row + 1))
    columns = {"returned": scores[order], "people": scores + rng.normal(size=len(rows))}
    for name, column in columns.items():
        lines = [f"{s},{i},{x}" for (s, i), x in zip(rows, column, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["system,item,score", *lines]))
    status, out, _ = run("audit", "returned.csv", "--human", "people.csv", "--json", "a.json")
    assert status == 1
    assert "scores in another order: row numbers from 1 sorted as strings" in out
    data = json.loads((folder / "a.json").read_text())
    assert data["judgments"]["order"] == "row numbers from 1 sorted as strings"


def test_repro_bertha(copy, run, folder):
    status, out, _ = run(
        "repro", "bertha", "--data", copy, "--splits", 2, "--json", "b.json", "-o", "b.md"
    )
    assert status == 0
    assert "METEOR, right lines" in out
    assert "of 40 cells" in out
    data = json.loads((folder / "b.json").read_text())
    assert data["tables"]["4"]["printed"]["METEOR"][3] == 0.222
    right, wrong = (data["tables"]["4"][s]["METEOR"] for s in ("right lines", "as published"))
    assert all(a > b for a, b in zip(right, wrong, strict=True))
    assert "| Table 7 |" in (folder / "b.md").read_text()


def test_repro_says_what_data_it_needs(folder, run):
    for paper in ("bertha", "direct-assessment"):
        status, _, err = run("repro", paper, "--data", "nowhere")
        assert status == 2
        assert "TRECvid-VTT_HA" in err


def test_similarity(folder, run):
    pytest.importorskip("matplotlib")
    systems = ("human.json", "strong.json", "weak.json", "broken.json")
    status, out, _ = run("analyse", "similarity", *systems, "-m", "rouge_l", "-o", "s.svg")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:5]][-1] == "human"
    assert (folder / "s.svg").exists()
    status, out, _ = run("analyse", "similarity", "-r", "refs.json", "-m", "rouge_l", "--json", "-")
    data = json.loads(out)
    assert data["names"] == ["annotator 1", "annotator 2", "annotator 3"]
    assert data["matrix"][0][0] is None
    assert data["matrix"][0][1] == data["matrix"][1][0]
    assert run("analyse", "similarity", "human.json")[0] == 2
    assert run("analyse", "similarity", "a.txt", "human.json")[0] == 2


def test_analyse(folder, run):
    pytest.importorskip("matplotlib")
    command = ("analyse", "difficulty", "strong.json", "weak.json", "-r", "refs.json", "--top", 1)
    status, out, _ = run(*command, "-o", "a.svg")
    assert status == 0
    assert "mean length" in out
    assert "strong, worst by meteor" in out
    assert (folder / "a.svg").exists()
    _, out, _ = run(*command, "--json", "-")
    data = json.loads(out)
    assert len(data["difficulty"]["length"]["weak"]["fifths"]) == 5
    assert data["best"]["strong"] != data["worst"]["strong"]
