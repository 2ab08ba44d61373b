"""``reelscore caption``: baselines as files that can be scored."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from reelscore.report.tuples import Roles, Tuples
from reelscore_studies.baselines.clip_features import read_features


@pytest.fixture
def scored(run):
    """Score a captions file that a command wrote, as it is."""

    def score(path):
        status, out, err = run("score", path, "-r", "refs.json", "-m", "meteor", "--json", "-")
        assert status == 0, err
        return json.loads(out)["systems"]

    return score


def record_of(path):
    return json.loads(path.with_name(f"{path.stem}.run.json").read_text())


def test_constant(run, folder, scored):
    status, out, err = run(
        "caption",
        "retrieve",
        "constant",
        "--captions",
        "refs.json",
        "-r",
        "refs.json",
        "-o",
        "constant.json",
    )
    assert status == 0, err
    assert "constant|metric:meteor|among:1000|seed:12345|data:" in out
    assert max(map(len, out.splitlines())) <= 80
    captions = json.loads((folder / "constant.json").read_text())
    assert len(set(captions.values())) == 1
    assert scored("constant.json")
    record = record_of(folder / "constant.json")
    assert record["sentence"] == captions["clip01"]
    assert record["seed"] == 12345
    assert record["command"].startswith("reelscore caption retrieve constant --captions refs.json")


def test_names_become_someone(run, folder):
    texts = {"a": "Anna Haley opens a door.", "b": "Tomas nods at Anna.", "c": "Someone nods."}
    (folder / "named.json").write_text(json.dumps(texts))
    (folder / "cast.txt").write_text("ANNA HALEY\n\nTomas\n")
    words = [
        "caption",
        "retrieve",
        "bound",
        "--captions",
        "named.json",
        "-r",
        "named.json",
        "-o",
        "out.json",
    ]
    status, _, err = run(*words, "--someone", "cast.txt")
    assert status == 0, err
    assert "Names were replaced in 2 of 3 captions." in err
    without = {"a": "Someone opens a door.", "b": "Someone nods at Someone.", "c": "Someone nods."}
    assert json.loads((folder / "out.json").read_text()) == without
    data = record_of(folder / "out.json")["data"]
    (folder / "named.json").write_text(json.dumps(without))  # done before: nothing changes
    status, _, err = run(*words, "--someone", "cast.txt")
    assert "Names were replaced in 0 of 3 captions." in err
    assert record_of(folder / "out.json")["data"] == data
    status, _, err = run(*words, "--someone", "nobody.txt")
    assert (status, "nobody.txt: no such file" in err) == (2, True)


def test_items_of_a_blind_test_get_captions(run, folder):
    times = "\t".join(["00.00.01.000"] * 4)
    (folder / "blind.tsv").write_text(f"clip_a\t{times}\nclip_b\t{times}\n")
    arguments = ["caption", "retrieve", "constant", "--captions", "refs.json", "-r"]
    status, _, err = run(*arguments, "refs.json", "--queries", "blind.tsv", "-o", "out.json")
    assert status == 0, err
    assert set(json.loads((folder / "out.json").read_text())) == {"clip_a", "clip_b"}
    status, _, err = run(*arguments, "blind.tsv", "-o", "out.json")  # no references
    assert status == 2
    assert "has no sentence, as in a blind test" in err


def test_records_are_not_scored(run, folder):
    arguments = ["caption", "retrieve", "constant", "--captions", "refs.json", "-r", "refs.json"]
    assert run(*arguments, "-o", "constant.json")[0] == 0
    status, out, err = run(
        "score", "constant.json", "constant.run.json", "-r", "refs.json", "-m", "bleu"
    )
    assert status == 0, err
    assert "constant.run" not in out


def test_the_constant_sentence_is_the_best_of_all(run, folder):
    """Every sentence by itself, through the public function."""
    import reelscore
    from reelscore_studies import constant

    references = reelscore.data.read_references("refs.json")
    sentences = [text for own in references.values() for text in own]
    scores = {
        text: reelscore.score(dict.fromkeys(references, text), references, "meteor")["meteor"].score
        for text in sentences
    }
    [chosen] = set(constant(references, references).values())
    assert scores[chosen] == max(scores.values())
    two = constant({"t": sentences[:2]}, references, ["x", "y"])
    assert list(two) == ["x", "y"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "missing/out.json"), "there is no folder 'missing'"),
        (("-o", "-"), "The captions need a file"),
        (("-o", "out.json", "-m", "bleu"), "is several scores"),
        (("-o", "out.json", "-m", "self_bleu"), "is several scores|cannot choose between captions"),
        (("-o", "out.json", "-m", "nonsense"), "Unknown metric 'nonsense'"),
    ],
)
def test_bad_input_is_one_message(run, folder, arguments, message):
    status, _, err = run(
        "caption", "retrieve", "constant", "--captions", "refs.json", "-r", "refs.json", *arguments
    )
    assert status == 2
    assert re.search(message, err)
    assert not (folder / "out.json").exists()
    assert not (folder / "out.run.json").exists()


# Labels


@pytest.fixture
def clips(folder):
    """Features, captions and tuples of clips whose verb can be seen, but not what is thought."""
    draw = np.random.default_rng(0)
    verbs = ["walk", "run", "sit"]
    for split, count in (("train", 150), ("val", 100), ("test", 20)):
        numbers, captions, by_item = {}, {}, {}
        for k in range(count):
            item, verb = f"{split}{k}", int(draw.integers(3))
            numbers[item] = np.eye(3)[verb] + draw.normal(0, 0.6, 3)
            captions[item] = [f"Someone {verbs[verb]}s."]
            thought = ("hopes", "knows")[int(draw.integers(2))]
            by_item[item] = [Roles("someone", verbs[verb]), Roles("someone", thought)]
        np.savez(folder / f"{split}.npz", **numbers)
        (folder / f"{split}.json").write_text(json.dumps(captions))
        (folder / f"{split}.jsonl").write_text("\n".join(Tuples(by_item).lines()))
    return folder


LABELS = [
    *("caption", "labels", "--captions", "train.json", "--tuples", "train.jsonl"),
    *("--features", "idt=train.npz", "--val-captions", "val.json", "--val-tuples", "val.jsonl"),
    *("--val-features", "idt=val.npz", "--test-features", "idt=test.npz", "--threads", "1"),
]


def test_labels(run, clips):
    status, out, err = run(*LABELS, "--group", "verbs=idt", "-o", "labels")
    assert status == 0, err
    assert max(map(len, out.splitlines())) <= 80
    assert "Wrote the scores of 3 labels to labels." in out
    told = json.loads((clips / "labels" / "labels.json").read_text())
    assert {own["name"]: own["kept"] for own in told["labels"]} == {
        **dict.fromkeys(["walk", "run", "sit"], True),
        **dict.fromkeys(["hopes", "knows"], False),
    }
    record = json.loads((clips / "labels" / "run.json").read_text())
    assert "|seed:12345|labels:3|groups:verb=idt|" in record["signature"]
    assert set(record["data"]) == {
        *("captions", "val_captions", "train_idt", "val_idt", "test_idt"),
    }
    assert {file.name for file in (clips / "labels").iterdir()} == {
        *("labels.json", "run.json", "classifiers.safetensors"),
        *("train.safetensors", "val.safetensors", "test.safetensors"),
    }


@pytest.mark.full
def test_the_auc_is_chosen_by_a_network(run, clips):
    pytest.importorskip("torch")
    grid = ["--auc-grid", ".6,.75", "--grid-iterations", "10"]
    status, out, err = run(*LABELS, "--group", "verbs=idt", *grid, "-o", "labels")
    assert status == 0, err
    assert re.search(r"AUC 0.6: METEOR \d\d?\.\d\d on validation\.\nAUC 0.75: METEOR", out)
    record = json.loads((clips / "labels" / "run.json").read_text())
    assert set(record["auc_grid"]) == {"0.6", "0.75"}
    best = max(record["auc_grid"].values())
    chosen = next(auc for auc, meteor in record["auc_grid"].items() if meteor == best)
    assert f"labels|auc:{chosen}|" in record["signature"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--group", "verbs=idt", "--auc-grid", ".5;.6"), "expected numbers from 0 to 1, such"),
        (("--group", "verbs=idt", "--auc-grid", ".5,nan"), "expected numbers from 0 to 1, such"),
        (("--group", "verbs=idt", "--recipe", "auc:nan"), "auc is nan; expected"),
        (("--group", "verbs=idt", "--recipe", "cross_fit:151"), "there are 150 training items"),
        (("--group", "verbs=idt", "--group", "verb=idt"), "Group 'verb' is named twice"),
        (("--group", "verbs"), "'verbs' is not of the form GROUP=NAME"),
        (("--group", "verbs=lsda"), "Unknown features 'lsda'. Known: idt"),
        (
            ("--group", "verbs=idt", "--recipe", "auc:1.0"),
            "labels: No label of group 'verb' reached AUC 1",
        ),
        (("--group", "places=idt"), "No label of group 'place' occurs in at least 30 items"),
        (("--group", "verbs=idt", "--places", "none.txt"), "none.txt: no such file"),
        (("--group", "verbs=idt", "--recipe", "cross_fit:1"), "cross_fit is 1"),
        (("--group", "verbs=idt", "--kind", "sense"), "Error: train.jsonl: holds no tuples of"),
    ],
)
def test_bad_labels(run, clips, arguments, message):
    status, _, err = run(*LABELS, *arguments, "-o", "labels")
    assert status == 2
    assert message in err
    assert not (clips / "labels").exists()
    assert not list(clips.glob(".labels*"))


@pytest.mark.parametrize("split", ["val", "test"])
def test_features_of_another_width(run, clips, split):
    numbers = np.load(clips / f"{split}.npz")
    np.savez(clips / f"{split}.npz", **{item: np.append(numbers[item], 1.0) for item in numbers})
    status, _, err = run(*LABELS, "--group", "verbs=idt", "-o", "labels")
    assert status == 2
    message = "Error: Features 'idt' have 4 numbers for each item, those of the training items 3."
    assert message in err.replace("labels: ", "")
    assert not (clips / "labels").exists()


def test_test_items_that_lack_features(run, clips):
    for split in ("train", "val", "test"):
        numbers = dict(np.load(clips / f"{split}.npz"))
        if split == "test":
            del numbers["test3"]
        np.savez(clips / f"{split}_pl.npz", **numbers)
    words = [*LABELS, "--features", "pl=train_pl.npz", "--val-features", "pl=val_pl.npz"]
    words += ["--test-features", "pl=test_pl.npz", "--group", "verbs=idt+pl", "-o", "labels"]
    status, _, err = run(*words)
    assert status == 2
    assert "Item 'test3' has some of the features, but not all. Extract them or pass --mis" in err
    assert not (clips / "labels").exists()
    status, _, err = run(*words, "--missing", "skip")
    assert status == 0, err
    scores = read_features(clips / "labels/test.safetensors")
    assert set(scores.items) == {f"test{k}" for k in range(20)} - {"test3"}


def test_labels_of_captions_with_names(run, clips):
    (clips / "cast.txt").write_text("Walks\n")
    status, _, err = run(*LABELS, "--group", "verbs=idt", "--someone", "cast.txt", "-o", "labels")
    assert status == 0, err
    assert "Names were replaced in 0 of 150 captions." in err
    told = json.loads((clips / "labels" / "run.json").read_text())["data"]
    named = (clips / "train.json").read_text().replace("Someone", "Anna")
    (clips / "train.json").write_text(named)
    (clips / "cast.txt").write_text("Anna\n")
    status, _, err = run(*LABELS, "--group", "verbs=idt", "--someone", "cast.txt", "-o", "again")
    assert status == 0, err
    assert "Names were replaced in 150 of 150 captions." in err
    assert json.loads((clips / "again" / "run.json").read_text())["data"] == told


def test_tuples_of_captions(run, folder):
    pytest.importorskip("reelscore_parser")
    status, out, err = run("parse", "strong.json", "--format", "tuples")
    assert status == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert {
        "item": "clip02",
        "subject": "woman",
        "verb": "cut",
        "object": "vegetable",
        "location": "board",
        "kind": "text",
    } in lines
    _, out, _ = run("parse", "strong.json", "--format", "tuples", "--kind", "sense")
    assert '"verb":"cut.v.1"' in out


def test_bound(run, folder, scored):
    status, out, err = run(
        "caption",
        "retrieve",
        "bound",
        "--captions",
        "weak.json",
        "-r",
        "refs.json",
        "-o",
        "oracle.json",
    )
    assert status == 0, err
    assert out.startswith("Oracle: the references chose among ")
    assert max(map(len, out.splitlines())) <= 80
    assert scored("oracle.json")
    note = "oracle: an oracle, not a system: its captions saw the references."
    assert note in run("score", "oracle.json", "-r", "refs.json", "-m", "meteor")[1]
    record = record_of(folder / "oracle.json")
    assert record["oracle"] is True
    assert "|oracle:yes|" in record["signature"]
    assert record["pairs"] == record["sentences"] * 45


@pytest.mark.parametrize("command", ["bound", "constant"])
def test_empty_references_offer_no_option_that_is_not_there(run, folder, command):
    (folder / "empty.json").write_text('{"a": ["a man"], "b": [" "]}')
    words = ["caption", "retrieve", command, "--captions", "refs.json", "-r", "empty.json"]
    status, _, err = run(*words, "-o", "out.json")
    assert status == 2
    assert err == "Error: 1 reference is empty (first: reference 1 of item 'b'). Fix them.\n"


def test_nearest(run, clips):
    arguments = [
        "caption",
        "retrieve",
        "nearest",
        "--features",
        "train.npz",
        "--captions",
        "train.json",
    ]
    arguments += [
        "--queries",
        "test.npz",
        "--neighbours",
        "clip_negative:yes",
        "-o",
        "nearest.json",
    ]
    status, out, err = run(*arguments)
    assert status == 0, err
    assert max(map(len, out.splitlines())) <= 80
    captions = json.loads((clips / "nearest.json").read_text())
    assert len(captions) == 20
    assert run("score", "nearest.json", "-r", "test.json", "-m", "meteor")[0] == 0
    record = record_of(clips / "nearest.json")
    assert "|distance:intersection|k:1|pick:first|clip_negative:yes|" in record["signature"]
    assert set(record["data"]) == {"captions", "features_1", "queries_1"}
    before = (clips / "nearest.json").read_bytes()
    assert run(*arguments, "--backend", "numpy")[0] == 0
    assert (clips / "nearest.json").read_bytes() == before


def test_queries_without_all_features(run, clips):
    np.savez(clips / "other.npz", **{"x": np.ones(3)})
    words = ["caption", "retrieve", "nearest", "--features", "train.npz", "train.npz", "--captions"]
    words += [
        "train.json",
        "--queries",
        "test.npz",
        "other.npz",
        "--neighbours",
        "clip_negative:yes",
    ]
    status, _, err = run(*words, "--missing", "skip", "-o", "nearest.json")
    assert status == 2
    assert "No item has all features (first: 'test0', 'test1', 'test2'; first: 'x')." in err
    assert not list(clips.glob("nearest*"))


def test_nearest_needs_histograms(run, clips):
    arguments = [
        "caption",
        "retrieve",
        "nearest",
        "--features",
        "train.npz",
        "--captions",
        "train.json",
    ]
    status, _, err = run(*arguments, "--queries", "test.npz", "-o", "nearest.json")
    assert status == 2
    assert "has negative features" in err
    assert "--neighbours clip_negative:yes" in err
    assert not (clips / "nearest.json").exists()
    (clips / "few.json").write_text('{"train0": ["a"], "zzz": ["b"]}')
    arguments[-1] = "few.json"
    status, _, err = run(*arguments, "--queries", "test.npz", "-o", "nearest.json")
    assert status == 2
    assert "1 caption has no features (first: 'zzz'). Add them or pass --missing skip." in err
