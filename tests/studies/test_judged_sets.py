"""The judged sets of metric papers: read in the files people have, and their tables come out."""

from __future__ import annotations

import gzip
import json
import pickle

import numpy as np
import pytest

from reelscore import DataError, UnknownNameError
from reelscore_studies.judged.judged_layouts import CaptionPair, RatedCaption
from reelscore_studies.judged.judged_sets import JudgedSet
from reelscore_studies.judged.judged_sets import read_judged_set as read
from reelscore_studies.judged.set_tables import (
    SETS,
    _references,
    printed_rows,
    set_protocol,
    set_table,
)

REFERENCES = ["a dog is running", "a dog runs fast"]
RATED = RatedCaption("a dog runs", REFERENCES, [4.0])


def written(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_pictures_as_pac_s_has_them(tmp_path):
    text = json.dumps({"x": {"ground_truth": REFERENCES, "human_judgement": []}})
    rows = '[{"caption": "a dog runs", "rating": 4.0}, {"caption": "b", "rating": NaN}]'
    path = written(tmp_path, "flickr8k.json", text.replace("[]", rows))
    assert read(path) == JudgedSet([RATED], [])


def test_tables_as_flickr8k_has_them(tmp_path):
    """A picture's own captions do not count with experts, and with the crowd are no references."""
    texts = [("x.jpg", ["a dog", "a cat"]), ("y.jpg", ["a cow"])]
    lines = [f"{name}#{k}\t{each}" for name, own in texts for k, each in enumerate(own)]
    written(tmp_path, "Flickr8k.token.txt", "\n".join(lines))
    experts = "x.jpg\ty.jpg#0\t1\t2\t1\nx.jpg\tx.jpg#0\t4\t4\t4\n"
    path = written(tmp_path, "ExpertAnnotations.txt", experts)
    assert read(path).rated == [RatedCaption("a cow", ["a dog", "a cat"], [1, 2, 1])]
    crowd = "x.jpg\ty.jpg#0\t0.25\t1\t3\nx.jpg\tx.jpg#0\t1\t3\t0\n"
    path = written(tmp_path, "CrowdFlowerAnnotations.txt", crowd)
    assert read(path).rated == [
        RatedCaption("a cow", ["a cat"], [0.25]),
        RatedCaption("a dog", ["a cat"], [1.0]),
    ]


def test_composite_by_source(tmp_path):
    row = {"image": "x.jpg", "caption": "a dog runs", "human": 4, "references": REFERENCES}
    assert read(written(tmp_path, "composite.json", {"8k": [row]})).rated == [RATED]


def test_a_set_without_references_is_refused():
    with pytest.raises(DataError, match="no caption has a reference"):
        set_table("composite", JudgedSet([RATED._replace(references=[])], []), "rouge_l")


def test_rows_as_json_and_csv(tmp_path):
    row = {"imgid": "x", "mt": "a dog runs", "refs": REFERENCES, "score": 4.0}
    assert read(written(tmp_path, "p.json", [row])).rated == [RATED]
    lines = f'imgid,mt,refs,score\nx,a dog runs,"{REFERENCES}",4.0\n'
    assert read(written(tmp_path, "n.csv", lines)).rated == [RATED]


def test_rows_as_on_the_hub(tmp_path):
    row = {"refs": REFERENCES, "cand": "a dog runs", "human_score": 4.0}
    for name, content in (("list.json", [row]), ("lines.jsonl", json.dumps(row) + "\n")):
        assert read(written(tmp_path, name, content)).rated == [RATED]
    lines = f'refs,cand,human_score\n"{REFERENCES}",a dog runs,4.0\n'
    assert read(written(tmp_path, "test.csv", lines)).rated == [RATED]


def test_pairs_by_kind(tmp_path):
    pair = {"image": "x", "captions": ["a", "b"], "references": ["c"], "label": 1}
    assert read(written(tmp_path, "p.json", {"HC": [pair]})).pairs == [
        CaptionPair(("a", "b"), ["c"], -1.0, "HC")
    ]


def test_sounds_as_fense_has_them(tmp_path):
    sound = {
        "references": ["c"],
        "raw_name": "x.wav",
        "HC": ["a", "b", "human_1", "human_2", [0, -1, 1, 1]],
        "MM_1": ["d", "e", "fc", "rl", 0, [-1, -1, -1, -1]],  # some have a number before the votes
        "MM_2": None,
    }
    assert read(written(tmp_path, "clotho_eval.json", [sound])).pairs == [
        CaptionPair(("a", "b"), ["c"], 1.0, "HC"),
        CaptionPair(("d", "e"), ["c"], -4.0, "MM"),
    ]


def test_videos_as_msvd_eval_has_them(tmp_path):
    video = {"vname": "x.avi", "ref": REFERENCES, "candidate": "a dog runs"}
    scored = {**video, "human_score": [[4, 3, 4, 5, 4.0], [4, 3, 4, 4, 3.75]]}
    found = read(written(tmp_path, "MSVD-Eval.json", {"vid1": scored}))
    assert found.rated == [RATED._replace(ratings=[4.0, 3.75])]
    assert found.judgments == 2


def vatex(folder, **changed):
    arrays = {
        "candidates_list": np.array(["a dog runs", "a cat"]),
        "gts_list": np.array([REFERENCES, ["b", "c"]]),
        "human_scores": np.array([[4, 1], [5, 2], [3, 1]]),  # raters × captions
    }
    folder.mkdir(exist_ok=True)
    for name, array in {**arrays, **changed}.items():
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(array))
    return folder


def test_arrays_as_vatex_eval_has_them(tmp_path):
    rows = read(vatex(tmp_path)).rated
    assert rows[0] == RatedCaption("a dog runs", REFERENCES, [4, 5, 3])
    assert rows[1].ratings == [1, 2, 1]


def test_pickles_run_nothing(tmp_path):
    class Harm:
        def __reduce__(self):
            return len, ("harm",)

    with pytest.raises(DataError, match=r"expected pickled arrays; builtins\.len is none"):
        read(vatex(tmp_path, gts_list=Harm()))
    with pytest.raises(DataError, match="2 candidates, 1 references"):
        read(vatex(tmp_path, gts_list=np.array([["b"]])))


def test_foils_and_what_they_were_made_of(tmp_path):
    coco = [{"image_id": 7, "id": 1, "caption": text} for text in ["a dog runs", *REFERENCES]]
    right = {"image_id": 7, "id": 1, "caption": "a dog runs", "foil": False}
    made = [right, {**right, "caption": "a cat runs", "foil": True}]
    written(tmp_path, "captions_val2014.json", {"annotations": coco})
    written(tmp_path, "foilv1.0_test_2017.json", {"images": [], "annotations": made})
    judged = read(tmp_path)
    references = ["a dog runs", *REFERENCES]
    assert judged.pairs == [CaptionPair(("a dog runs", "a cat runs"), references, 1.0)]
    found = {name: set_table(name, judged, "meteor") for name in ("foil", "foil-1")}
    refs = {name: table.rows[0].signature.partition("refs:")[2][0] for name, table in found.items()}
    assert refs == {"foil": "2", "foil-1": "1"}  # the caption itself is none


def test_foiled_paragraphs(tmp_path):
    for kind, verb in (("right", "runs"), ("foil", "swims")):
        story = [{"sentence": "A dog.", "timestamp": [0, 1]}, {"sentence": f"It {verb}."}]
        written(tmp_path, f"final_{kind}_video_sentences.json", {"results": {"v_1": story}})
    written(tmp_path, "anet_entities_test_2.json", {"v_1": {"sentences": ["One.", "Two."]}})
    pair = CaptionPair(("A dog. It runs.", "A dog. It swims."), ["One. Two."], 1.0)
    assert read(tmp_path).pairs == [pair]


def test_lines_of_any_set(tmp_path):
    rows = [
        {"captions": ["a", "b"], "references": ["c"], "votes": [1, 1, -1], "kind": "HM"},
        {"captions": ["a", "b"], "references": ["c"], "better": 1},
    ]
    text = "\n".join(map(json.dumps, rows))
    path = tmp_path / "clotho.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert [(pair.votes, pair.kind) for pair in read(path).pairs] == [(1.0, "HM"), (-1.0, "")]


def test_factvc_in_its_folder(tmp_path):
    said = {"v1": {"COOT": {"paragraph_score": 2, "sentences": ["add [salt] .", "mix"]}}}
    written(tmp_path, "factuality_annotation.json", said)
    written(tmp_path, "captions/gt_ae_test_1_para.json", {"v1": "one."})
    written(tmp_path, "captions/gt_ae_test_2_para.json", {"v1": "two."})
    assert read(tmp_path).rated == [RatedCaption("add salt. mix.", ["one.", "two."], [2.0])]


def test_thumb_in_its_folder(tmp_path):
    score = {"SYS": "s", "seg_id": "1", "hyp": "a dog runs", "human_score": 4.0, "P": 4.0}
    written(tmp_path, "mscoco_THumB-1.0.jsonl", json.dumps(score) + "\n")
    written(tmp_path, "mscoco_references.json", json.dumps({"seg_id": "1", "refs": REFERENCES}))
    assert read(tmp_path).rated == [RATED]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"caption": "a", "ratings": [1]}\n', "no references"),
        ('{"caption": "a", "references": ["b"]}\n', "neither a caption with ratings nor a pair"),
        ('{"caption": 1, "references": ["b"], "ratings": [1]}\n', "few.jsonl:1"),
        ("captions\n", "expected lines of JSON"),
    ],
)
def test_wrong_files_are_explained(tmp_path, content, said):
    with pytest.raises(DataError, match=said):
        read(written(tmp_path, "few.jsonl", content))
    with pytest.raises(DataError, match="local copy"):
        read(tmp_path / "missing.jsonl")


def test_folders_without_a_known_file_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"a folder with one of factuality_annotation\.json"):
        read(tmp_path)


# What is counted


def pairs(*rows):
    return JudgedSet([], [CaptionPair(*row) for row in rows])


def values(words, judged, metrics="rouge_l"):
    return set_table(words, judged, metrics).rows[0].values


@pytest.mark.parametrize(
    ("ties", "share"), [("half", 50), ("wrong", 0), ("second", 25), ("chance", 50)]
)
def test_ties_of_the_metric(ties, share):
    tied = (("a dog", "a dog"), ["a dog"])
    judged = pairs(*((*tied, vote, "") for vote in (1.0, 1.0, 1.0, -1.0)))
    assert values(f"pascal-50s|ties:{ties}", judged) == {"all": share}


def test_each_caption_meets_one_reference_less():
    """Two captions of the set meet each other; others meet all references but one, in turn."""
    refs = ["a dog runs", "a cat sits", "the cow eats grass"]
    both = CaptionPair((refs[0], refs[1]), refs, 1.0)
    one = CaptionPair((refs[0], "a bus"), refs, 1.0)
    none = CaptionPair(("a dog", "a bus"), refs, 1.0)
    protocol = set_protocol("clotho-eval")[1]
    beside = [_references(pair.captions, refs, protocol) for pair in (both, one, none)]
    assert beside[0] == [[refs[1:]], [[refs[0], refs[2]]]]
    assert beside[1] == [[refs[1:]], [refs[1:]]]
    assert beside[2] == [[refs[1:], [refs[0], refs[2]], refs[:2]]] * 2
    # both share one word with a reference, the bus has it in a shorter caption, only a dog runs
    all_three = values("clotho-eval", JudgedSet([], [both, one, none]))
    assert all_three["all"] == pytest.approx(100 / 3)


def test_kinds_apart_and_all_together():
    right, wrong = (["a dog", "x"], ["a dog"], 1.0), (["a dog", "x"], ["a dog"], -1.0)
    judged = pairs((*right, "HC"), (*right, "HC"), (*wrong, "MM"))
    assert values("pascal-50s", judged) == {
        "HC": 100,
        "MM": 0,
        "all": pytest.approx(66.667, abs=1e-3),
    }


def test_votes_that_sum_to_nothing_do_not_count():
    with pytest.raises(DataError, match="no pair has a winner"):
        set_table("clotho-eval", pairs((("a", "b"), ["a"], 0.0, "HC")), "rouge_l")


def test_references_that_equal_a_caption_are_left_out():
    judged = pairs((("a dog", "x"), ["a dog", "a x x"], 1.0, ""), (("a", "b"), ["a"], 1.0, ""))
    table = set_table("audiocaps-eval", judged, "rouge_l")
    assert table.rows[0].values == {"all": 0}
    assert "audiocaps-eval: 1 row left out, with no reference left." in table.notes
    assert values("audiocaps-eval|own:kept", judged) == {"all": 100}


def test_raters_apart_are_averaged():
    rows = [
        RatedCaption("a dog runs", ["a dog runs"], [3.0, 1.0]),
        RatedCaption("a dog", ["a dog runs"], [2.0, 2.0]),
        RatedCaption("cats", ["a dog runs"], [1.0, 3.0]),
    ]
    assert values("vatex-eval", JudgedSet(rows, [])) == {"kendall_b": 0.0, "spearman": 0.0}
    one = [row._replace(ratings=row.ratings[:1]) for row in rows]
    assert values("vatex-eval", JudgedSet(one, []))["spearman"] == pytest.approx(100)


def test_equal_captions_are_scored_once_but_by_cider():
    rows = [RatedCaption("a dog runs", ["a dog runs"], [k]) for k in (1.0, 2.0)]
    rows.append(RatedCaption("a cat", ["the cat sat"], [1.0]))
    scored = [
        row.signature for row in set_table("nebula", JudgedSet(rows, []), "meteor,cider").rows
    ]
    assert [signature.partition("items:")[2][0] for signature in scored] == ["2", "3"]


def test_the_numbers_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["a", "dog", "runs", "on", "grass"], 4)) for _ in range(60)]
    rows = [RatedCaption(t, ["a dog runs on grass"], [float(rng.integers(1, 5))]) for t in texts]
    from reelscore import score

    result = score(dict(enumerate(texts)), dict.fromkeys(range(60), rows[0].references), "rouge_l")
    ours = [round(x, 12) for x in result["rouge_l"].items.values()]
    people = [row.ratings[0] for row in rows]
    for variant in "bc":
        expected = 100 * stats.kendalltau(ours, people, variant=variant).statistic
        found = values("nebula", JudgedSet(rows, []))[f"kendall_{variant}"]
        assert found == pytest.approx(expected, abs=1e-9)


def test_another_number_of_rows_is_said():
    table = set_table("clotho-eval", pairs((("a", "b"), ["a x"], 1.0, "HC")), "rouge_l")
    assert "this copy of clotho-eval has 1 pair, the published set 1,750" in table.notes[0]


def test_unknown_sets_and_choices_are_named():
    with pytest.raises(UnknownNameError, match="pascal-50s"):
        set_protocol("pascal-50")
    for words, said in (("nebula|ties:no", "Invalid enum"), ("nebula|tie:half", "unknown field")):
        with pytest.raises(DataError, match=said):
            set_protocol(words)
    with pytest.raises(UnknownNameError, match="kendall_c"):
        set_protocol("nebula|coefficients:kendall")


def test_signatures_are_read_again():
    for name, protocol in SETS.items():
        assert set_protocol(protocol.signature(name)) == (name, protocol)


# What is there must come out

MEASURED = [
    ("audiocaps-eval", "METEOR", {"HC": (66.0, 0.05), "HI": (96.4, 0.05), "HM": (90.0, 0.05)}),
    ("pascal-50s", "METEOR", {"HC": (63.8, 0.3), "HI": (97.7, 0.3), "all": (80.1, 0.3)}),
    ("pascal-50s", "CIDEr", {"all": (79.9, 0.1)}),
    (
        "audiocaps-eval|own:left-out",
        "METEOR",
        {"HC": (65.5, 0.1), "HI": (96.4, 0.5), "HM": (90.0, 0.1)},
    ),
    ("audiocaps-eval|own:left-out", "CIDEr", {"all": (70.6, 0.1)}),
    ("audiocaps-eval|ties:half|own:left-out", "CIDEr", {"all": (70.7, 0.1)}),
    ("nebula", "METEOR", {"kendall_c": (46.8, 0.05)}),
    ("nebula", "CIDEr", {"kendall_c": (48.1, 0.05)}),
    ("factvc-youcook2", "METEOR", {"pearson": (39.3, 0.05)}),
]


@pytest.mark.parametrize(("name", "metric", "expected"), MEASURED)
def test_what_is_measured(shared, name, metric, expected):
    file = name.partition("|")[0].replace("-", "_").replace("_50s", "50s")
    judged = read(shared / "judged" / f"{file}.jsonl.gz")
    row = set_table(name, judged, metric).rows[0]
    for kind, (value, tolerance) in expected.items():
        assert row.values[kind] == pytest.approx(value, abs=tolerance)


def test_printed_rows_have_sources():
    for name in SETS:
        for row in printed_rows(name):
            assert row.printed
            assert "(20" in row.signature
            assert row.values
    meteor = next(row for row in printed_rows("pascal-50s") if row.metric == "METEOR")
    assert meteor.values["all"] == 80.1


# The command


def test_the_command(tmp_path, run):
    row = {"captions": ["a dog runs", "x"], "references": REFERENCES, "votes": [1], "kind": "HC"}
    one = written(tmp_path, "one.jsonl", json.dumps(row))
    two = written(tmp_path, "two.json", [{"mt": w, "refs": ["a"], "score": 1} for w in ("a", "b")])
    target, tables = tmp_path / "found.json", tmp_path / "tables.md"
    words = (
        "meta",
        "judged",
        f"clotho-eval={one}",
        f"nebula|ties:wrong={two}",
        "-m",
        "meteor,bleu_1",
    )
    status, out, _ = run(*words, "--json", target, "-o", tables)
    assert status == 0
    assert "clotho-eval, 1 pair: accuracy in %" in out
    assert "Warning: this copy of clotho-eval has 1 pair" in out
    assert "METEOR, printed" in out
    assert "nebula|coefficients:kendall_c+kendall_b" in out
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(target.read_text())["sets"][0]["rows"]
    assert [each["metric"] for each in found[:2]] == ["METEOR", "BLEU-1"]
    assert found[0]["values"] == {"HC": 100.0, "all": 100.0}
    assert "| metric |" in tables.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "No set is given"),
        (("pascal-50s",), "expected SET=PATH"),
        (("pascal-5=x",), "Did you mean 'pascal-50s'"),
        (("pascal-50s=x",), "x: No such file or directory"),
        (("pascal-50s=x", "-o", "t.html"), "written as .md, .tex, .txt"),
    ],
)
def test_the_command_refuses(tmp_path, monkeypatch, run, words, said):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("meta", "judged", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert not any(tmp_path.iterdir())


def test_scores_that_were_made_elsewhere_are_a_row(tmp_path, run):
    rows = [
        {"captions": ["a", "b"], "references": ["c"], "votes": votes} for votes in ([1], [0], [-1])
    ]
    path = written(tmp_path, "few.jsonl", "\n".join(map(json.dumps, rows)))
    mine = written(tmp_path, "mine.txt", "2\n1\n0\n0\n3\n1.5\n")
    words = ("meta", "judged", f"own={path}", "-m", "rouge_l", "--scores")
    status, out, _ = run(*words, f"mine={mine}")
    assert status == 0
    assert [line.split() for line in out.splitlines()[2:4]] == [
        ["mine", "50.0"],
        ["ROUGE-L", "50.0"],
    ]
    for content, said in (("1 2 3", "mine has 3 scores; expected 6"), ("a b", "list of numbers")):
        written(tmp_path, "mine.txt", content)
        status, _, err = run(*words, f"mine={mine}")
        assert status == 2
        assert said in err


def test_the_command_lists_all_sets(run):
    status, out, _ = run("meta", "judged", "--list")
    assert status == 0
    assert all(f"{name}: " in out for name in SETS)
