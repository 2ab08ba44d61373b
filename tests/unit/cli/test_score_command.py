"""`reelscore score`: what it prints and what it writes."""

from __future__ import annotations

import csv
import gzip
import json

import pytest

from reelscore import ScoreTable, parse_signature, read_candidates, read_references, score

FOUR = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider"]
LABELS = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr"]


def test_table(run, folder):
    status, out, err = run("score", "human.json", "weak.json", "--refs", "refs.json")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["system", *LABELS]
    assert [line.split()[0] for line in lines[1:3]] == ["human", "weak"]
    expected = score(read_candidates("human.json"), read_references("refs.json"))
    assert [float(cell) for cell in lines[1].split()[1:]] == pytest.approx(
        [result.score for result in expected.values()], abs=6e-5
    )
    printed = "".join(line.strip() for line in lines)
    assert expected["cider"].signature in printed  # wrapped, but whole


def test_json(run, folder):
    # the form other programs rely on, as the specification has it
    status, _, _ = run("score", "one=a.txt", "b.txt", "-r", "r1.txt", "--json", "out.json")
    assert status == 0
    stored = json.loads((folder / "out.json").read_text())
    assert list(stored) == ["systems", "notes", "statistics", "format"]
    assert stored["notes"] == ["Read as plain lines: a.txt, b.txt, r1.txt."]
    assert list(stored["systems"]) == ["one", "b"]
    for scores in stored["systems"].values():
        assert list(scores) == FOUR
        for name, entry in scores.items():
            assert set(entry) == {"score", "interval", "signature", "scale", "items"}
            assert isinstance(entry["score"], float)
            assert entry["interval"] is None
            assert list(entry["items"]) == ["1", "2"]
            assert (
                parse_signature(entry["signature"]).name == name.split("_")[0] or name == "rouge_l"
            )
    expected = score(read_candidates("a.txt"), read_references("r1.txt"))
    assert stored["systems"]["one"] == json.loads(json.dumps(expected.to_dict()))


def test_json_on_standard_output_is_alone(run, folder):
    status, out, err = run("score", "a.txt", "-r", "r1.txt", "--json", "-", "--intervals")
    assert (status, err) == (0, "Read as plain lines: a.txt, r1.txt.\n")
    entry = json.loads(out)["systems"]["a"]["meteor"]
    low, high = entry["interval"]
    assert low <= entry["score"] <= high
    assert "resamples:1000|seed:12345" in entry["signature"]


def test_files(run, folder):
    arguments = ("score", "human.json", "weak.json", "-r", "refs.json", "-m", "bleu|n:2,rouge_l")
    files = ("-o", "t.csv", "-o", "t.tex", "--table", "s.csv", "--json", "s.json")
    status, out, _ = run(*arguments, *files)
    assert status == 0
    assert out.startswith("system")  # the table is shown all the same
    rows = list(csv.reader((folder / "t.csv").read_text().splitlines()))
    assert rows[0] == ["system", "bleu_1", "bleu_2", "rouge_l"]
    table = ScoreTable.read(folder / "s.csv")
    assert float(rows[1][3]) == pytest.approx(table["human"]["rouge_l"].score, abs=6e-5)
    latex = (folder / "t.tex").read_text()
    assert "\\begin{tabular}{lrrr}" in latex
    assert "\\textbf{" in latex
    assert table.to_csv() == ScoreTable.read(folder / "s.json").to_csv()
    assert table.metrics == ["bleu_1", "bleu_2", "rouge_l"]
    assert len(table["weak"]["bleu_2"].items) == 15


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_table_reads_back(run, folder, ending):
    run("score", "weak.json", "-r", "refs.json", "--table", f"t.{ending}")
    table = ScoreTable.read(folder / f"t.{ending}")
    expected = score(read_candidates("weak.json"), read_references("refs.json"))
    for name, result in expected.items():
        assert table["weak"][name].score == result.score
        assert table["weak"][name].items.to_dict() == result.items.to_dict()


def test_items(run, folder):
    status, out, _ = run("score", "a.txt", "-r", "r1.txt", "-m", "rouge_l", "--items")
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["a", "1", "0.5571"] in rows
    assert ["a", "2", "1.0000"] in rows


def test_intervals(run, folder):
    status, out, _ = run("score", "weak.json", "-r", "refs.json", "--intervals", "-m", "meteor")
    assert status == 0
    assert "±" in out


def test_several_reference_files(run, folder):
    run("score", "a.txt", "-r", "r1.txt", "--refs", "r2.txt", "-m", "rouge_l", "--json", "j.json")
    entry = json.loads((folder / "j.json").read_text())["systems"]["a"]["rouge_l"]
    both = {"1": ["a man is running", "somebody runs"], "2": ["a dog", "the dog sleeps"]}
    assert entry["score"] == score(read_candidates("a.txt"), both, "rouge_l")["rouge_l"].score
    assert "|refs:2|" in entry["signature"]


NAMES = [
    # argument, name, why
    ("a.txt", "a", "the file without its ending"),
    ("one=a.txt", "one", "NAME=FILE"),
    ("x=y=a.txt", "x", "the first = counts"),
    ("sub/run.v2.jsonl.gz", "run.v2", "no folder, no known endings"),
    ("k=v.txt", "k=v", "a file whose name has an ="),
    ("NoEnding", "NoEnding", "nothing to take off"),
]


@pytest.mark.parametrize(("argument", "name", "why"), NAMES)
def test_names(run, folder, argument, name, why):
    (folder / "sub").mkdir()
    lines = b'{"id": 1, "caption": "a man"}\n{"id": 2, "caption": "a dog"}\n'
    (folder / "sub" / "run.v2.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "y=a.txt").write_text("a man\na dog\n")
    (folder / "k=v.txt").write_text("a man\na dog\n")
    (folder / "NoEnding").write_text("a man\na dog\n")
    status, out, err = run("score", argument, "-r", "r1.txt", "-m", "rouge_l", "--json", "-")
    assert status == 0, err
    assert list(json.loads(out)["systems"]) == [name], why


def test_metrics_without_references(run, folder):
    status, out, _ = run("score", "weak.json", "-m", "diversity,self_bleu")
    assert status == 0
    assert out.split()[:2] == ["system", "Length"]


def test_policies(run, folder, write_json):
    write_json("some.json", {"clip01": "a man"})
    status, out, _ = run("score", "some.json", "-r", "refs.json", "--missing", "zero")
    assert status == 0
    assert "14 items have no candidate: scored as an empty caption." in out
    assert "missing:zero" in out.replace("\n  ", "")
    status, out, _ = run("score", "some.json", "-r", "refs.json", "--missing", "skip")
    assert "14 items have no candidate: skipped." in out
    (folder / "blank.txt").write_text("a man\n \n")
    status, out, _ = run("score", "blank.txt", "-r", "r1.txt", "--empty", "zero")
    assert status == 0
    assert "1 candidate is empty." in out


@pytest.mark.parametrize("tokenizer", ["ptb", "ptb-coco", "none"])
def test_tokenizers(run, folder, tokenizer):
    (folder / "c.txt").write_text("plan B.\nThe man\n")
    (folder / "d.txt").write_text("plan b\nthe man\n")
    arguments = ("score", "c.txt", "-r", "d.txt", "-m", "rouge_l", "--tokenizer", tokenizer)
    _, out, _ = run(*arguments, "--json", "-")
    items = json.loads(out)["systems"]["c"]["rouge_l"]["items"]
    expected = {"ptb": (0.5, 1.0), "ptb-coco": (1.0, 1.0), "none": (0.5, 0.5)}[tokenizer]
    assert tuple(items.values()) == pytest.approx(expected)


def test_threads_change_nothing(run, folder):
    outputs = {
        run("score", "weak.json", "-r", "refs.json", "--json", "-", "--threads", n)[1]
        for n in (1, 2, 7)
    }
    assert len(outputs) == 1


def test_ids_of_any_kind(run, folder, write_json):
    odd = {"a\nb": "a man", "x" * 200: "a dog", "中😀": "two dogs", "v,1": "a cat"}
    write_json("odd.json", odd)
    write_json("oddrefs.json", {item: [text] for item, text in odd.items()})
    status, out, _ = run("score", "odd.json", "-r", "oddrefs.json", "-m", "rouge_l", "--json", "-")
    assert status == 0
    assert list(json.loads(out)["systems"]["odd"]["rouge_l"]["items"]) == list(odd)
    status, _, _ = run("score", "odd.json", "-r", "oddrefs.json", "--items", "-o", "o.csv")
    assert status == 0


def test_an_oracle_is_no_best_system(run, folder):
    """Not in bold, not better than others, sorted last; also in tables that are read again."""
    words = ["--captions", "strong.json", "-r", "refs.json", "-o", "oracle.json"]
    assert run("caption", "retrieve", "bound", *words)[0] == 0
    words = ["oracle.json", "weak.json", "strong.json", "-r", "refs.json", "-m", "meteor"]
    _, latex, _ = run("score", *words, "--sort", "meteor", "-o", "-.tex", "--table", "t.json")
    rows = [line for line in latex.splitlines() if " & " in line and "METEOR" not in line]
    assert [row.split()[0] for row in rows] == [
        "strong",
        "weak",
        r"oracle\textsuperscript{\ddag{}}",
    ]
    assert [r"\textbf" in row for row in rows] == [True, False, False]
    assert "such as an oracle that sees the answers, so not ranked: oracle." in latex
    assert json.loads((folder / "t.json").read_text())["bounds"] == ["oracle"]
    _, again, _ = run("report", "t.json", "-o", "-.tex", "--html", "t.html")
    (oracle,) = (line for line in again.splitlines() if "oracle" in line and " & " in line)
    assert r"\textbf" not in oracle
    assert oracle.count("superscript") == 1  # no letters of systems that it is better than
    assert "<sup>‡</sup>" in (folder / "t.html").read_text()
    _, compared, _ = run("compare", "t.json", "--baseline", "weak", "-o", "-.tex")
    (oracle,) = (line for line in compared.splitlines() if line.startswith("oracle"))
    assert oracle.count("superscript") == 1
    _, compared, _ = run("compare", *words, "--all-pairs", "-o", "-.csv")
    (oracle,) = (line for line in compared.splitlines() if line.startswith("oracle"))
    assert oracle.endswith(",")


def test_a_person_is_scored_against_the_others(run, folder):
    """A person's own caption among the references is no score of 1."""
    references = json.loads((folder / "refs.json").read_text())
    person = {item: texts[0] for item, texts in references.items()}
    others = {item: texts[1:] for item, texts in references.items()}
    for name, content in (("person", person), ("others", others)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    words = ("-m", "rouge_l,cider", "--json", "-")
    status, out, _ = run("score", "person.json", "weak.json", "-r", "refs.json", *words)
    assert (status, json.loads(out)["systems"]["person"]["rouge_l"]["score"]) == (0, 1.0)
    plain = json.loads(out)["systems"]["weak"]
    status, out, err = run(
        "score", "person.json", "weak.json", "-r", "refs.json", *words, "--leave-one-out"
    )
    assert status == 0
    table = json.loads(out)
    expected = json.loads(run("score", "person.json", "-r", "others.json", *words)[1])
    assert table["systems"]["person"] == expected["systems"]["person"]
    assert table["systems"]["weak"] == plain
    assert "person: 15 of 15 captions are among the references, and were scored against" in err
    assert "Warning" not in err
    status, _, err = run("score", "weak.json", "-r", "refs.json", "--leave-one-out")
    assert status == 2
    assert "--leave-one-out: no system's captions are nearly all among the references" in err
    assert run("compare", "person.json", "weak.json", "-r", "refs.json", "--leave-one-out")[0] == 2


def test_several_candidates_an_item(run, folder):
    references = json.loads((folder / "refs.json").read_text())
    samples = {item: [*texts, "a man"] for item, texts in references.items()}
    (folder / "ours.json").write_text(json.dumps(samples))
    records = [{"id": i, "prediction": text} for i, own in samples.items() for text in own]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, records)))
    words = ("-r", "refs.json", "-m", "rouge_l")
    status, out, err = run("score", "ours.json", "rows.jsonl", *words, "--samples")
    assert (status, err) == (0, "")
    assert "Self-CIDEr" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("ours", "rows"))]
    assert rows[0][1:] == rows[1][1:]
    assert "rouge_l|beta:1.2|candidates:4|tok:ptb" in out
    status, _, err = run("score", "ours.json", *words)
    assert status == 2
    assert err.count("reelscore score --samples") == 1
    assert run("score", "ours.json", *words, "--samples", "--missing", "common")[0] == 2


def test_notes_count_the_captions_that_are_scored(run, folder):
    """A marker in a caption without references says nothing about the scores."""
    captions = json.loads((folder / "weak.json").read_text())
    (folder / "more.json").write_text(json.dumps({**captions, "clip99": "a <unk> man"}))
    words = ("-r", "refs.json", "-m", "rouge_l", "--missing", "skip")
    assert "<unk>" not in run("score", "more.json", *words)[1]
    first = next(iter(captions))
    (folder / "more.json").write_text(json.dumps({**captions, first: "a <unk> man"}))
    assert "1 caption holds a marker of a model, such as '<unk>'" in run(
        "score", "more.json", *words
    )[1].replace("\n  ", " ")


def test_vlmevalkit_by_hand(run, tmp_path):
    """Its rows: an index, what a model said, and the references as Python writes a list."""
    rows = [("A dog runs.", "['a dog runs', 'A dog barks.']"), ("a cat", "['a cat']")]
    path = tmp_path / "model_COCO_VAL.json"
    path.write_text(
        json.dumps(
            [
                {"index": k, "image_path": f"{k}.jpg", "prediction": said, "answer": truth}
                for k, (said, truth) in enumerate(rows)
            ]
        )
    )
    status, out, _ = run("score", path, "--preset", "vlmevalkit", "--json", "-")
    assert status == 0
    scores = json.loads(out)["systems"]["model_COCO_VAL"]
    # "A" and "dog" are in a reference, "runs." is in none; 4 of 5 words, and none too short
    assert scores["bleu_1"]["score"] == pytest.approx(4 / 5)
    # the longest common sequences: "dog" or "A dog" of three words each, and all
    assert scores["rouge_l"]["score"] == pytest.approx((2 / 3 + 1) / 2)
    assert "tok:none" in scores["cider"]["signature"].replace("%6E", "n")
    status, out, _ = run("score", path, "--preset", "vlmevalkit")
    assert "80.00" in out  # times 100
    assert "case and punctuation count" in out
