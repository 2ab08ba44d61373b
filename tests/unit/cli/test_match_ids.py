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
        "compare one.json two.json -r refs.json -m rouge_l --test trials:20",
        "compare scores.json other_scores.json --test trials:20",
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
    words = (
        "report scores.json --human people.csv --captions one.json -r refs.json --html page.html"
    )
    status, _, err = run(*words.split(), "--match-ids", "basename")
    assert (status, err) == (0, "")
    page = (files / "page.html").read_text()
    assert "Ids were matched without folders and file endings." in page
    assert "clips/v1.mp4" not in page.partition("report scores.json")[0]


@pytest.fixture
def lines(files):
    """Captions without ids, beside references of video0 to video3."""
    captions = ["a man and 1 dogs", "a man and 2 dogs", "a man and 3 dogs", "a man and 4 dogs"]
    (files / "all.txt").write_text("\n".join([*captions, ""]))
    (files / "one_lost.txt").write_text("\n".join([*captions[1:], ""]))
    for name, begin in (("named", "video"), ("numbered", "")):
        first = 0 if begin else 1
        references = {f"{begin}{k + first}": [text] for k, text in enumerate(captions)}
        (files / f"{name}.json").write_text(json.dumps(references))
    return files


@pytest.mark.parametrize("rule", [[], ["--match-ids", "prefix"], ["--match-ids", "number"]])
@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("references", ["named", "numbered"])
def test_numbers_of_lines_are_no_ids(lines, run, command, references, rule):
    """Three lines fit 1, 2 and 3 of video0 to video3, each against the next video's references."""
    words = [command, "one_lost.txt", "-r", f"{references}.json", "-m", "rouge_l", *rule]
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "are in order, without ids (3)" in err
    assert "pass --" not in err
    status, _, err = run(*words[:4], "-m", "rouge_l", "--match-ids", "order")
    assert status == 2
    assert "There are 3 candidates and 4 references" in err


def test_lines_are_matched_by_order_where_that_is_said(lines, run):
    words = ["score", "all.txt", "-r", "named.json", "-m", "rouge_l"]
    status, _, err = run(*words)
    assert status == 2
    assert "If they have the same order, pass --match-ids order." in err
    status, out, _ = run(*words, "--match-ids", "order", "--json", "-")
    assert status == 0
    table = json.loads(out)
    assert table["systems"]["all"]["rouge_l"]["items"] == dict.fromkeys(
        ["video0", "video1", "video2", "video3"], 1.0
    )
    assert "|ids:order|" in table["systems"]["all"]["rouge_l"]["signature"]
    assert any("the first caption was taken for the first item" in n for n in table["notes"])
    # the same ids in the same order: nothing is assumed
    assert run("score", "all.txt", "-r", "numbered.json", "-m", "rouge_l")[0] == 0


def test_order_is_no_way_around_ids(lines, run):
    (lines / "turned.json").write_text(json.dumps({"video1": "a man", "video0": "a dog"}))
    (lines / "two.json").write_text(json.dumps({"video0": ["a man"], "video1": ["a dog"]}))
    status, _, err = run(
        "score", "turned.json", "-r", "two.json", "-m", "rouge_l", "--match-ids", "order"
    )
    assert status == 2
    assert "have ids in common, in another order (first: 'video1', 'video0')" in err
