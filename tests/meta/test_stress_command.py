"""stress: what it prints, writes and refuses."""

from __future__ import annotations

import json
import sys

import pytest


def test_embedded_example(run):
    status, out, _ = run("stress")
    lines = out.splitlines()
    assert status == 0
    assert max(map(len, lines)) <= 80
    assert lines[0] == "15 originals: a reference of each item, taken out."
    assert [line for line in lines if line.startswith(("Damages:", "Exploits:", "Mean drop"))] == [
        "Damages: share of damaged captions that score below the original",
        "Exploits: share that score at or above the original (fooled)",
        "Mean drop, in standard deviations of the originals' scores",
    ]
    assert "stutter            15    0.53=    1.00      1.00    0.87" in lines


def test_one_metric_is_shown_in_detail(run):
    status, out, _ = run("stress", "-m", "meteor", "--kinds", "negation/never, generic")
    assert status == 0
    assert "damage          captions  below       95 %  ties  mean drop" in out
    assert "exploit  captions  fooled       95 %  ties  mean drop" in out


def test_files(folder, run):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    files = ("--html", "page.html", "-o", "plot.svg", "--json", "all.json")
    status, out, _ = run("stress", "human.json", "-r", "refs.json", "-m", "rouge_l", *files)
    assert status == 0
    assert out.startswith("15 originals: captions given.")
    assert "<h1>Stress test</h1>" in (folder / "page.html").read_text()
    assert (folder / "plot.svg").stat().st_size > 10_000
    content = json.loads((folder / "all.json").read_text())
    assert len(content["trials"]) == 24


def test_outputs_that_nobody_wants(run):
    files = ("--html", "/dev/null", "--json", "/dev/null")
    assert run("stress", "-m", "rouge_l", "--kinds", "roles", *files)[0] == 0


def test_json_alone(run):
    status, out, _ = run("stress", "-m", "rouge_l", "--kinds", "shuffle", "--json", "-")
    assert status == 0
    assert json.loads(out)["trials"][0]["captions"] == 15


def test_references_of_several_people(folder, run):
    status, out, _ = run("stress", "-r", "r1.txt", "r2.txt", "--kinds", "other video")
    assert status == 0
    assert out.startswith("2 originals")


def test_a_missing_package_is_named_before_the_work(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("reelscore.meta.commands.stress.stress_metrics", None)  # must not be called
    status, _, err = run("stress", "-m", "rouge_l", "-o", "plot.svg")
    assert (status, "Plots need matplotlib" in err) == (2, True)


def test_list(run):
    status, out, _ = run("stress", "--list")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80 + 10
    assert "negation: says that it is not so\n  forms: is not, does not" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kinds", "negatoin"), "Did you mean 'negation'?"),
        (("-r", "r1.txt"), "single reference"),
        (("a.txt",), "Give --refs"),
        (("-m", "diversity"), "does not say of a single caption how good it is"),
        (("--html", "nowhere/page.html"), "nowhere"),
        (("--kinds", "colour", "-r", "r1.txt", "r2.txt"), "such as --kinds shuffle"),
        (("--html", "page.html", "-o", "plot.bmp"), "written as .pdf, .svg, .png"),
        (("--html", "all", "--json", "./all"), "is named twice"),
    ],
)
def test_refused(folder, run, snapshot, arguments, message):
    before = snapshot()
    status, out, err = run("stress", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("Error: ")
    assert snapshot() == before


def test_stories_as_paragraphs(tmp_path, run):
    stories = {"timestamps": [[5, 9], [0, 4]], "sentences": ["He bows.", "A man sings"]}
    for name in ("one", "two"):
        videos = {f"v_{name}": stories, "v_1": {**stories, "sentences": [name, "A man sings"]}}
        (tmp_path / f"{name}.json").write_text(json.dumps(videos))
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    words = ("--paragraphs", "-m", "rouge_l", "--kinds", "sentence/exchanged", "--json", "-")
    status, out, _ = run("stress", "-r", *files, *words)
    assert status == 0
    (case,) = json.loads(out)["cases"]["sentence/exchanged"]
    assert case["original"] in ("A man sings. one.", "A man sings. two.")
    assert case["changed"] in ("one. A man sings.", "two. A man sings.")
    status, _, err = run("stress", "--paragraphs")
    assert status == 2
    assert "--paragraphs needs --refs" in err
