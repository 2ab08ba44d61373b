"""`reelscore score` and `compare` of sets that are read in blocks: --parts and --bad-rows."""

from __future__ import annotations

import json

import pytest

from reelscore import ScoreTable, compare, score_shards, score_systems
from reelscore.examples import clips
from reelscore.scoring.intervals import with_intervals
from reelscore.scoring.shards import partitions
from reelscore.scoring.shards.output import Output
from support.shards import candidate_rows, item_scores, reference_rows, write_shards

METRICS = "bleu,meteor,rouge_l,cider"


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """The example's captions as shards in the current folder, cut into several parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(partitions, "_ROWS", 100)
    captions, references = clips()
    write_shards(tmp_path / "captions", candidate_rows(captions), 3)
    write_shards(tmp_path / "references", reference_rows(references), 2)
    return tmp_path


def test_the_folder_of_scores(run, shards):
    status, out, err = run("score", "captions", "-r", "references", "--parts", "scores")
    assert (status, err) == (0, "")
    in_memory = score_systems(*clips(), METRICS)
    for line, system in zip(out.splitlines()[1:5], in_memory.systems, strict=True):
        expected = [f"{result.score:.4f}" for result in in_memory[system].values()]
        assert line.split() == [system, *expected]
    assert sorted(path.name for path in (shards / "scores").iterdir()) == [
        "items",
        "manifest.json",
        "scores.json",
    ]
    stored = ScoreTable.read(shards / "scores" / "scores.json")
    assert stored["weak"]["cider"].score == in_memory["weak"]["cider"].score
    assert stored["weak"]["cider"].signature.startswith("cider|n:4|")
    scores = item_scores(shards / "scores")
    for (system, item), row in scores.items():
        assert row == {name: each.items[item] for name, each in in_memory[system].items()}
    manifest = json.loads((shards / "scores" / "manifest.json").read_text())
    assert manifest["complete"]
    assert sum(part["rows"] for part in manifest["parts"]) == len(scores)


def test_the_same_shards_without_a_folder_are_read_in_memory(run, shards):
    status, out, _ = run("score", "captions", "-r", "references", "-m", METRICS, "--json", "t.json")
    assert status == 0
    assert ScoreTable.read("t.json")["weak"]["cider"].items  # item scores are there
    again = run("score", "captions", "-r", "references", "-m", METRICS, "--parts", "scores")[1]
    assert again.splitlines()[:5] == out.splitlines()[:5] or out == ""


def test_captions_in_other_formats_are_taken_too(run, folder):
    status, out, _ = run("score", "weak.json", "human.json", "-r", "refs.json", "--parts", "scores")
    assert status == 0
    in_memory = run("score", "weak.json", "human.json", "-r", "refs.json")[1]
    assert out.splitlines()[:3] == in_memory.splitlines()[:3]


def test_intervals_say_how_they_were_drawn(run, shards):
    arguments = ("-m", "rouge_l", "--intervals", "--resamples", "50")
    status, out, _ = run("score", "captions", "-r", "references", "--parts", "s", *arguments)
    assert status == 0
    signature = "".join(line.strip() for line in out.splitlines())
    assert signature.endswith("|level:0.95|resamples:50|seed:12345|resampling:poisson")
    assert out.count("±") == 4


def test_intervals_depend_on_no_cut(shards, monkeypatch):
    captions, _ = clips()
    intervals = []
    for rows, count in ((30, 5), (10_000, 1)):
        monkeypatch.setattr(partitions, "_ROWS", rows)
        own = write_shards(shards / f"cut{count}", candidate_rows(captions), count)
        table = score_shards(own, shards / "references", METRICS, out=f"o{count}", resamples=100)
        table = with_intervals(table, resamples=100)
        intervals.append([each.interval for row in table.results.values() for each in row.values()])
    assert intervals[0] == intervals[1]


def test_compare(run, shards):
    status, out, err = run(
        *("compare", "captions", "-r", "references", "--parts", "scores", "-m", "rouge_l,cider"),
        *("--baseline", "weak", "--json", "compared.json"),
    )
    assert (status, err) == (0, "")
    assert "p bootstrap" in out
    assert "p randomization" not in out
    found = json.loads((shards / "compared.json").read_text())["comparisons"]
    [expected] = compare(
        score_systems(*clips(), "cider"), "weak", tests=["bootstrap"], correction="holm"
    )
    for pair in expected.pairs:
        [own] = [p for p in found if (p["metric"], p["system"]) == ("cider", pair.system)]
        assert own["p_corrected"] == pytest.approx(pair.p_corrected, abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "--items"), "the scores of items are in its folder"),
        (("score", "--missing", "common"), "--missing common needs all captions at once"),
        (("score", "--match-ids", "zeros"), "--match-ids needs all captions at once"),
        (("score", "-m", "self_bleu"), "self_bleu looks at all captions of a system together"),
        (("compare", "--test", "randomization"), "use --test bootstrap"),
    ],
)
def test_what_needs_all_captions_is_refused_before_the_work(run, shards, arguments, message):
    command, *options = arguments
    status, _, err = run(command, "captions", "-r", "references", "--parts", "scores", *options)
    assert status == 2
    assert message in " ".join(err.split())
    assert not (shards / "scores").exists()


def test_bad_rows(run, shards):
    captions, _ = clips()
    rows = candidate_rows(captions)
    rows[5]["caption"] = None
    write_shards(shards / "captions", rows, 1)
    for extra in (shards / "captions").glob("0[12].parquet"):
        extra.unlink()
    common = ("score", "captions", "-r", "references", "--parts", "scores", "-m", "rouge_l")
    status, out, err = run(*common)
    assert (status, out) == (2, "")
    said = " ".join(err.split())
    assert "captions/00.parquet: row 6: the caption of item" in said
    assert "collect such records: --bad-rows FILE." in said
    status, out, _ = run(
        *common[:-4], "--parts", "other", "-m", "rouge_l", "--bad-rows", "bad.jsonl"
    )
    assert status == 0
    assert "2 records were left out" in " ".join(out.split())
    bad = [json.loads(line) for line in (shards / "bad.jsonl").read_text().splitlines()]
    assert bad[0]["file"] == "captions/00.parquet"
    assert bad[0]["row"] == 6
    assert bad[1]["reason"] == "system 'human' has no caption of the item"


@pytest.mark.parametrize("options", [(), ("--parts", "scores")])
def test_a_folder_with_a_name_is_one_system(run, shards, options):
    captions, _ = clips()
    rows = [{"item": item, "caption": text} for item, text in captions["human"].items()]
    write_shards(shards / "human", rows, 2)
    rest = ("-r", "references", "-m", "rouge_l", *options)
    status, _, err = run("score", "human", *rest)  # two systems, each with half of the items
    assert (status, "00" in err) == (2, True)
    status, out, err = run("score", "ours=human", *rest)
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split()[0] == "ours"


def test_an_interrupted_run_says_what_is_kept(run, shards, monkeypatch):
    keep = Output.keep_part

    def interrupted(self, entry):
        keep(self, entry)
        raise KeyboardInterrupt

    monkeypatch.setattr(Output, "keep_part", interrupted)
    command = ("score", "captions", "-r", "references", "-m", "rouge_l", "--parts", "scores")
    status, _, err = run(*command)
    assert status == 130
    assert "scores keeps what is finished. Give the command again" in " ".join(err.split())
