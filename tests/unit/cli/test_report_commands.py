"""reelscore report and inspect, and --html, --plots, --output of the others."""

from __future__ import annotations

import json
import re

import pytest

from reelscore import examples

CLIPS = examples.path("clips")
SYSTEMS = [str(path) for path in sorted((CLIPS / "systems").iterdir())]
REFS = ["-r", str(CLIPS / "references.json")]
CAPTIONS = [part for path in SYSTEMS for part in ("--captions", path)]
HUMAN = ["--human", str(CLIPS / "judgments.csv")]


@pytest.fixture
def table(run, tmp_path):
    status, _, err = run("score", *SYSTEMS, *REFS, "--table", str(tmp_path / "scores.json"))
    assert status == 0, err
    return str(tmp_path / "scores.json")


def test_every_command_writes_a_page(run, tmp_path, table):
    stories = examples.path("stories")
    story_systems = [str(path) for path in sorted((stories / "systems").iterdir())]
    page = tmp_path / "page.html"
    for arguments in (
        ["score", *SYSTEMS, *REFS],
        ["compare", *SYSTEMS, *REFS, "--test", "trials:50", "--resamples", "50"],
        ["compare", *SYSTEMS, *REFS, "--all-pairs", "--test", "trials:50", "--resamples", "50"],
        ["stories", *story_systems, "-r", str(stories / "annotator_1.json")],
        ["stories", *story_systems, "-r", str(stories / "annotator_1.json"), "-b", "concise"],
        ["meta", table, *HUMAN, "--level", "pooled", "--resamples", "20", *CAPTIONS, *REFS],
        ["demo"],
    ):
        page.unlink(missing_ok=True)
        status, _, err = run(*arguments, "--html", str(page))
        assert status == 0, err
        text = page.read_text(encoding="utf-8")
        assert f"reelscore {arguments[0]}" in text, arguments[0]  # the command is in it
        assert len(text) > 70_000


def test_report_of_stored_tables(run, tmp_path, table):
    outputs = {name: tmp_path / name for name in ("r.html", "r.tex", "r.md", "r.csv")}
    status, out, err = run(
        "report",
        table,
        *HUMAN,
        *CAPTIONS,
        *REFS,
        *("--html", str(outputs["r.html"]), "-o", str(outputs["r.tex"])),
        *("-o", str(outputs["r.md"]), "-o", str(outputs["r.csv"])),
        *("--plots", f"{tmp_path / 'figures'}|format:svg"),
        *("--metrics", "meteor,cider"),
    )
    assert status == 0, err
    assert "4 systems" in out
    assert r"\toprule" in outputs["r.tex"].read_text()
    assert outputs["r.md"].read_text().startswith("| system | METEOR | CIDEr | judgments |")
    assert outputs["r.csv"].read_text().startswith("system,meteor,meteor_low,")
    assert (tmp_path / "figures" / "distributions-cider.svg").exists()


def test_report_wants_something_to_write(run, table):
    status, _, err = run("report", table)
    assert status == 2
    assert "-o FILE" in err


def test_report_refuses_before_it_works(run, tmp_path, table):
    status, _, err = run("report", table, "--html", str(tmp_path / "no" / "r.html"))
    assert status == 2
    assert "there is no folder" in err
    status, _, err = run("report", table, "--html", str(tmp_path / "r.html"), "--captions", table)
    assert status == 2
    status, _, err = run("score", *SYSTEMS, *REFS, "--html", str(tmp_path))
    assert status == 2
    assert "is a folder; name a file" in err
    status, _, err = run(
        "score",
        *SYSTEMS,
        *REFS,
        "--html",
        str(tmp_path / "r.html"),
        "--videos",
        "https://x.example/clips",
    )
    assert status == 2
    assert "{item}" in err
    assert not (tmp_path / "r.html").exists()


def test_inspect_systems(run, table):
    status, out, err = run("inspect", table, *CAPTIONS, *REFS, "-n", "1")
    assert status == 0, err
    assert out.splitlines()[2] == "clip08: apart by 0.8919"
    assert "strong     0.9739  a person is riding a motorcycle on a wet city street" in out
    assert "reference          A cyclist in a yellow raincoat rides through heavy traffic" in out
    assert max(map(len, out.splitlines())) <= 80


def test_inspect_scores(run, table):
    status, out, err = run("inspect", table, *HUMAN, *CAPTIONS, "-m", "meteor", "-n", "2")
    assert status == 0, err
    assert out.startswith("Captions that METEOR and judgments rank most differently")
    judgments = re.findall(r"^  strong +0\.\d+ +(\S+)", out, re.MULTILINE)
    assert [len(number.partition(".")[2]) for number in judgments] == [2, 2]  # 45.00 and 50.50
    assert out.count("apart by") == 2
    assert "0.9739  45" in out
    status, out, _ = run("inspect", table, "-m", "meteor", "--against", "cider", "-s", "weak")
    assert status == 0
    assert out.count("weak") == 5


def test_inspect_shows_the_tuples_of_spice(run, tmp_path):
    tuples = {
        "a red car": [["car"], ["car", "red"]],
        "a dog runs": [["dog"], ["dog", "run"]],
        "a red automobile turns": [["automobile"], ["automobile", "red"], ["automobile", "turn"]],
    }
    lines = [{"test": text, "test_tuples": each} for text, each in tuples.items()]
    (tmp_path / "tuples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts = {"good": "a red car", "bad": "a dog runs", "refs": ["a red automobile turns"]}
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"v1": text}))
    files = {name: str(tmp_path / f"{name}.json") for name in texts}
    metric = f"spice|tuples:{tmp_path / 'tuples.jsonl'}"
    scores = str(tmp_path / "scores.json")
    run("score", files["good"], files["bad"], "-r", files["refs"], "-m", metric, "--table", scores)
    given = ["--captions", files["good"], "--captions", files["bad"], "-r", files["refs"]]
    status, out, err = run("inspect", scores, *given, "-m", "spice")
    assert status == 0, err
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "good 0.8000 a red car" in lines
    assert "✓ car = automobile · ✓ (car, red) = (automobile, red)" in lines
    assert "dog · (dog, run)" in lines
    assert "✓ automobile · ✓ (automobile, red) · (automobile, turn)" in lines

    (tmp_path / "good.json").write_text(json.dumps({"v1": "a dog runs"}))
    status, out, err = run("inspect", scores, *given, "-m", "spice")
    assert "do not give the table's score" in " ".join(out.split())


def test_inspect_says_what_it_needs(run, table, tmp_path):
    status, _, err = run("inspect", table, "-s", "weak")
    assert status == 2
    assert "--against NAME" in err
    status, _, err = run("inspect", table, "-m", "meteo")
    assert status == 2
    assert "Did you mean 'meteor'?" in err
    status, _, err = run("inspect", table, "--captions", f"ours={SYSTEMS[0]}")
    assert status == 2
    assert "The tables have broken, human, strong, weak" in err


def test_markdown(run, tmp_path):
    status, out, err = run("score", *SYSTEMS, *REFS, "-m", "meteor", "-o", "-.md")
    assert status == 0, err
    assert out.splitlines()[0] == "| system | METEOR |"
    assert "| human | **0.2946** |" in out


def test_a_report_of_many_systems_counts_them(tmp_path, run):
    rows = [f"s{k},v{i},{k + i}" for k in range(12) for i in range(3)]
    (tmp_path / "scores.csv").write_text("\n".join(["system,item,score", *rows]))
    page = tmp_path / "page.html"
    assert run("report", str(tmp_path / "scores.csv"), "--html", str(page))[0] == 0
    assert "<title>12 systems</title>" in page.read_text()


def test_inspected_items_as_json(run, folder):
    words = ("weak.json", "strong.json", "-r", "refs.json", "-m", "rouge_l,cider", "--json")
    assert run("score", *words, "t.json")[0] == 0
    captions = ("--captions", "weak.json", "strong.json", "-r", "refs.json")
    status, out, _ = run("inspect", "t.json", "-m", "rouge_l", "-n", 3, *captions, "--json", "-")
    items = json.loads(out)
    assert (status, len(items)) == (0, 3)
    assert set(items[0]["systems"]) == {"weak", "strong"}
    scores = [own["rouge_l"] for own in items[0]["systems"].values()]
    assert items[0]["apart"] == abs(scores[0] - scores[1])
    assert items[0]["systems"]["weak"]["caption"]
    assert len(items[0]["references"]) == 3
