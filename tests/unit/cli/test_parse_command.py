"""parse: what it prints and writes, on trees written by hand in place of the model."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("reelscore_parser")

from support.trees_by_hand import TREES, parsed_captions


@pytest.fixture
def captions(folder, monkeypatch):
    """A file of captions, and a parser that knows them."""
    return parsed_captions(folder, monkeypatch)


def test_table(captions, run):
    status, out, _ = run("parse", captions)
    assert status == 0
    assert out.splitlines() == [
        "item  clause  subject  verb  object  location",
        "b     1.1     man      ride  horse   beach",
        "b     1.2     man      wave  –       –",
        "a     1.1     she      play  guitar  –",
        "a     1.2     dog      –     –       –",
    ]


def test_json_lines_have_roles_and_senses(captions, run, folder):
    status, out, _ = run("parse", captions, "--json", "out.jsonl", "--senses", "collocations")
    assert (status, out) == (0, "")
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [line["item"] for line in lines] == ["b", "a", "c", "c"]
    first, second = lines[1]["clauses"]
    assert first["verb"]["sense"] == "play.v.7"
    assert first["object"] == {
        **{"lemma": "guitar", "phrase": "the guitar", "head": 3, "tag": "NN"},
        **{"sense": "guitar.n.1", "topic": "artifact", "conjuncts": [], "antecedent": None},
    }
    assert second["subject"]["head"] == 5  # counted from the beginning of the caption
    assert lines[2]["clauses"] == lines[3]["clauses"] == []


def test_lines_for_translation(captions, run):
    _, out, _ = run("parse", captions, "--format", "sr", "--pronouns", "person")
    assert out.splitlines() == [
        "b\tman ride horse beach",
        "b\tman wave _ _",
        "a\twoman play guitar _",
        "a\tdog _ _ _",
    ]


def test_conllu_has_a_block_for_each_sentence(captions, run):
    _, out, _ = run("parse", captions, "--format", "conllu")
    blocks = out.strip().split("\n\n")
    assert len(blocks) == 4
    assert blocks[2].splitlines() == [
        "# item = a",
        "# caption = She plays the guitar. Dogs.",
        "1\tDogs\tdog\t_\tNNS\t_\t0\troot\t_\t_",
        "2\t.\t.\t_\t.\t_\t1\tpunct\t_\t_",
    ]


def test_trees_fit_the_terminal(captions, run):
    _, out, _ = run("parse", captions, "--format", "tree")
    assert max(map(len, out.splitlines())) <= 80
    assert " ├─┴─ beach  NN   obl    location 1" in out
    assert " 2  subject man · verb wave [wave.v.1: communication]" in out


def test_page(captions, run, folder):
    status, _, _ = run("parse", captions, "--html", "out.html")
    page = (folder / "out.html").read_text()
    assert status == 0
    assert page.count("<svg") == 4
    assert ">location 1</text>" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to parse"),
        (("captions.json", "--senses", "verbnet"), "Give the folder of your copy"),
    ],
)
def test_refusals(captions, run, arguments, message):
    status, _, error = run("parse", *arguments)
    assert status == 2
    assert message in error


def test_without_the_package_the_remedy_is_said(captions, run, monkeypatch):
    from reelscore.text.parser import lexicon

    monkeypatch.setattr(lexicon, "find_spec", lambda name: None)
    lexicon._installed.cache_clear()
    status, _, error = run("parse", captions)
    lexicon._installed.cache_clear()
    assert status == 2
    assert "pip install 'reelscore[parser]' " in error


def test_topics_of_references_and_scores_of_systems(captions, run, folder, write_json):
    pytest.importorskip("matplotlib")
    first, second, *_ = TREES
    write_json("refs.json", {"x": [first, second], "y": [second]})
    write_json("one.json", {"x": first, "y": second})
    write_json("two.json", {"x": "Dogs.", "y": "Dogs."})
    command = ("analyse", "topics", "one.json", "two.json", "-r", "refs.json")
    status, out, _ = run(*command, "-o", "topics.svg")
    assert status == 0
    assert out.splitlines()[:3] == [
        "3 captions: 0 without verb, 2 with one, 1 with several",
        "topic          verbs     %  entropy  most frequent",
        "competition        2  50.0     0.00           play",
    ]
    assert "meteor on items by topic: 2 of 3 references with one verb" in out
    assert (folder / "topics.svg").exists()
    _, out, _ = run(*command, "--json", "-", "--clauses", "first", "--of", "candidates")
    assert json.loads(out)["scores"]["items"] == {"competition": 2, "motion": 1}


def test_a_first_argument_that_is_no_command_is_a_file(folder, run):
    rows = [f"s{k},v{n},{k * n % 5}" for k in range(4) for n in range(6)]
    (folder / "scores.csv").write_text("\n".join(["system,item,score", *rows, ""]))
    words = ("a=scores.csv", "--human", "scores.csv", "-t", "none")
    plain = run("meta", *words)
    assert plain[0] == 0
    assert plain == run("meta", "tables", *words)
    assert run("meta", "tables")[0] == 2
