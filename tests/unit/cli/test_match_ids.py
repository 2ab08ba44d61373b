"""``--match-ids``: ids that files write differently, on every command that matches them."""

from __future__ import annotations

import json

import pytest

STORY = [{"sentence": "a man walks", "timestamp": [0, 4]}]


@pytest.fixture
def files(tmp_path, monkeypatch, run):
    """Captions, references, stories, judgments and scores of the same five items."""
    monkeypatch.chdir(tmp_path)
    captions = {f"v{k}": f"a man and {k} dogs" for k in range(1, 6)}
    for name, content in {
        "one": {f"clips/{item}.mp4": text for item, text in captions.items()},
        "two": captions,
        "refs": {item: [text.replace("and", "walks")] for item, text in captions.items()},
        "story": {"V1": STORY},
        "truth": {"v1": STORY},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    rows = [f"{system},{item}.mp4,{item[1:]}" for system in ("one", "two") for item in captions]
    (tmp_path / "people.csv").write_text("\n".join(["system,item,score", *rows, ""]))
    scoring = "-r refs.json -m rouge_l,bleu --json"
    assert run(*f"score one=two.json two.json {scoring} scores.json".split())[0] == 0
    assert run(*f"score two.json {scoring} two_scores.json".split())[0] == 0
    other = json.loads((tmp_path / "two_scores.json").read_text())
    for result in other["systems"]["two"].values():
        result["items"] = {f"{item}.mp4": value for item, value in result["items"].items()}
    other["systems"] = {"three": other["systems"].pop("two")}
    other["statistics"] = {"three": other["statistics"].pop("two")}
    (tmp_path / "other_scores.json").write_text(json.dumps(other))
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "score one.json two.json -r refs.json -m rouge_l",
        "compare one.json two.json -r refs.json -m rouge_l --trials 20",
        "compare scores.json other_scores.json --trials 20",
        "meta scores.json --human people.csv --level pooled -t none -c pearson",
        "stories story.json -r truth.json --scores soda_c",
    ],
)
def test_the_error_names_the_option_that_works(files, run, words):
    rule = "casefold" if words.startswith("stories") else "basename"
    status, out, err = run(*words.split())
    assert (status, out) == (2, "")
    assert f"pass --match-ids {rule}." in err
    status, out, err = run(*words.split(), "--match-ids", rule)
    assert (status, err) == (0, "")
    assert "Ids were matched without" in out
    status, _, err = run(*words.split(), "--match-ids", "name")
    assert status == 2
    assert "Unknown rule" in err


def test_check_names_the_option(files, run):
    status, out, _ = run("check", "one.json", "-r", "refs.json")
    assert status == 1
    assert "score with --match-ids basename." in " ".join(out.split())


def test_report(files, run):
    words = "report scores.json --human people.csv --captions one.json -r refs.json -o page.html"
    status, _, err = run(*words.split(), "--match-ids", "basename")
    assert (status, err) == (0, "")
    page = (files / "page.html").read_text()
    assert "Ids were matched without folders and file endings." in page
    assert "clips/v1.mp4" not in page.partition("report scores.json")[0]
