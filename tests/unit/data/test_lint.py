"""Checks of captions: each defect is found, and nothing in what people write."""

from __future__ import annotations

import gzip
import json

import pytest

import reelscore
from reelscore.data.lint.caption_reader import captions_of
from reelscore.data.lint.defects import worst_notes
from reelscore.data.lint.fixes import fixed
from reelscore.errors import DataError
from reelscore_studies.judged import trecvid_ha

CLEAN = {
    "v1": "A man is riding a horse on the beach, and a dog runs behind them.",
    "v2": 'two very very old men say "no, no, no" to a child\'s question',
    "v3": "#1 Dad plays tricks on his toddler (in Spanish) & laughs",
    "v4": "here comes the bride at 5 o'clock - she is 24/7 happy",
    "v5": 'Caption "Tae blows out candles" over boys at a party; barbecues are **** (expletive)',
    "v6": "the café's logo www.example.com on a podium, 3 < 5 and <3",
    "v7": "a woman looks on while a boy puts his hat on",
    "v8": "video shows a 2.5 m wall [music] then a man in the U.S. talks",
}
DEFECTS = [
    # check, severity, caption
    ("empty", "error", ""),
    ("empty", "error", " ... "),
    ("markers", "error", "a man plays a <unk>"),
    ("markers", "error", "a man is UNK a ball"),
    ("markers", "error", "a man runs<eos>"),
    ("markers", "error", "a man runs </s> <pad> <pad>"),
    ("markers", "error", "a man runs<|im_end|>"),
    ("markers", "error", "<think>It may be a man.</think> a man runs"),
    ("markers", "error", "[CLS] a man runs [SEP]"),
    ("markers", "error", "a man is play ##ing"),
    ("markers", "error", "a man is play@@ ing"),
    ("markers", "error", "▁a▁man▁runs"),
    ("html", "error", "a man &amp; a dog"),
    ("html", "error", "it&#39;s a dog"),
    ("html", "error", "a man runs<br/>"),
    ("prompt", "error", "Describe the video in one sentence. A man runs."),
    ("prompt", "error", "Sure! Here is a caption for the video: a man runs"),
    ("prompt", "error", "Here's a short description: a man runs"),
    ("prompt", "error", "ASSISTANT: a man runs"),
    ("prompt", "error", "a man runs USER: what else?"),
    ("prompt", "error", "Caption: a man runs"),
    ("prompt", "error", "I'm sorry, but I cannot see the video."),
    ("prompt", "error", "As an AI language model, I do not watch videos."),
    ("markdown", "error", "**A man** runs"),
    ("markdown", "error", "# A man runs"),
    ("markdown", "error", "- a man runs"),
    ("markdown", "error", "1. a man runs"),
    ("markdown", "error", "``` a man runs ```"),
    ("structure", "error", '{"caption": "a man runs"}'),
    ("structure", "error", "['a man runs']"),
    ("structure", "error", """['a man runs', "a man's dog runs"]"""),
    ("structure", "error", "b'a man runs'"),
    ("structure", "error", 'b"a man\'s dog runs"'),
    ("numbers", "error", "0.37"),
    ("numbers", "error", "101 2023 2003 102"),
    ("numbers", "error", "[0.1, 0.9]"),
    ("placeholder", "error", "nan"),
    ("placeholder", "error", "[removed]"),
    ("placeholder", "error", "error"),
    ("cut_off", "error", "a man is riding on the back of a"),
    ("loops", "error", "a man a man a man a man"),
    ("loops", "error", "a dog dog dog dog"),
    ("loops", "error", "a man is in a parking lot in a parking lot"),
    ("mojibake", "error", "a cafÃ© in SÃ£o Paulo"),
    ("mojibake", "error", "itâ€™s a dog"),
    ("replaced", "error", "a caf\N{REPLACEMENT CHARACTER} in Paris"),
    ("control", "error", "\ufeffa man runs"),
    ("control", "error", "a man\x07 runs"),
    ("control", "error", "a man\u200bruns"),
    ("language", "error", "一个男人在跑步"),
    ("escapes", "warning", "a man\\u2019s dog"),
    ("escapes", "warning", "a man\\nruns"),
    ("quotes", "warning", '"a man runs on the beach"'),
    ("spaces", "warning", " a man runs"),
    ("spaces", "warning", "a man  runs"),
    ("spaces", "warning", "a man\nruns"),
    ("spaces", "warning", "a\N{NO-BREAK SPACE}man runs"),
    ("short", "warning", "man"),
    ("long", "warning", " ".join(f"word{k}" for k in range(60))),
]


def test_what_people_write_is_clean():
    assert list(reelscore.check(CLEAN)) == []


@pytest.mark.parametrize(("check", "severity", "caption"), DEFECTS)
def test_a_defect_is_found(check, severity, caption):
    findings = reelscore.check({**CLEAN, "bad": caption})
    [finding] = [finding for finding in findings if finding.check == check]
    assert (finding.severity, finding.count) == (severity, 1)
    assert finding.examples[0].item == "bad"
    assert finding.message.startswith("1 caption")
    assert finding.remedy


def test_one_caption_for_all():
    [finding] = reelscore.check({f"v{k}": "A man is talking." for k in range(20)})
    assert (finding.check, finding.severity, finding.count) == ("same", "error", 20)
    assert finding.message == "all 20 captions are the same."
    # half of them: an error; fewer: a warning; capitals and stops do not matter
    texts = {f"v{k}": f"a man number {k} walks" for k in range(20)}
    texts |= {f"v{k}": "a man is talking" + "." * (k % 2) for k in range(6)}
    [finding] = reelscore.check(texts)
    assert (finding.check, finding.severity, finding.count) == ("same", "warning", 6)


def test_slips_are_warnings_until_they_are_frequent():
    texts = {f"v{k}": f"a man number {k} walks" for k in range(300)}
    slips = {"v1": "a man in a", "v2": "a man with a"}
    [finding] = reelscore.check(texts | slips)
    assert (finding.check, finding.severity) == ("cut_off", "warning")
    [finding] = reelscore.check(texts | slips | {"v3": "a dog and the"})
    assert (finding.check, finding.severity) == ("cut_off", "error")


REFERENCES = {
    f"v{k}": [f"person {k} is walking down the long road", "a walk in the park, it seems"]
    for k in range(10)
}


def test_copies_of_references():
    captions = {item: texts[0].upper() for item, texts in REFERENCES.items()}
    [finding] = reelscore.check(captions, REFERENCES)
    assert (finding.check, finding.severity, finding.count) == ("copies", "error", 10)
    # a short caption may be equal by chance
    others = {item: f"somebody {item} strolls about the town" for item in REFERENCES}
    assert list(reelscore.check({**others, "v1": "a walk in the park, it seems"}, REFERENCES)) == []
    one_copy = {**others, "v1": REFERENCES["v1"][0]}
    [finding] = reelscore.check(one_copy, REFERENCES)
    assert (finding.check, finding.severity, finding.count) == ("copies", "warning", 1)


@pytest.mark.parametrize(
    ("spelling", "names", "rule"),
    [
        ("clips/{}.mp4", "basename", "without folders and file endings"),
        ("V{1}", "casefold", "without regard to capital letters"),
        ("v00{1}", "zeros", "without leading zeros"),
        (
            "V00{1}.mp4",
            "basename,casefold,zeros",
            "without folders and file endings, without regard to capital letters, "
            "without leading zeros",
        ),
        ("video_{1}", "number", "by their last number"),
    ],
)
def test_ids_that_are_spelled_otherwise(spelling, names, rule):
    captions = {
        spelling.format(item, item[1:]): f"somebody {item} strolls about the town"
        for item in REFERENCES
    }
    advice = f'score with match_ids="{names}".'
    [finding] = reelscore.check(captions, REFERENCES)
    assert (finding.check, finding.severity, finding.count) == ("ids", "error", 20)
    assert finding.remedy == f"10 of them match {rule}: write them alike, or {advice}"
    del captions[next(iter(captions))]
    [finding] = reelscore.check(captions, REFERENCES)
    assert finding.remedy == f"9 of them match {rule}: write them alike, or {advice}"


def test_missing_and_extra_ids():
    captions = {item: f"somebody {item} strolls about the town" for item in [*REFERENCES][1:]}
    [finding] = reelscore.check({**captions, "w": "a dog strolls about"}, REFERENCES)
    assert finding.message == (
        "1 item has no caption and 1 item has no references, of 10 items with references."
    )
    assert finding.remedy == "Caption every item that has references, and no other."
    # integers and texts are the same ids
    assert list(reelscore.check({7: "somebody strolls"}, {"7": ["a walk in the park"]})) == []


def test_language_and_length_beside_references():
    german = {item: f"ein Mann und eine Frau mit einem Hund {item}" for item in REFERENCES}
    [finding] = reelscore.check(german, REFERENCES)
    assert (finding.check, finding.severity) == ("language", "error")
    assert finding.message == "The captions are German, the references English."
    [finding] = reelscore.check(german)
    assert (finding.check, finding.severity) == ("language", "warning")
    wordy = {
        item: f"person {item} in the picture seems to be on the way home, since the sun is about "
        "to go down behind the hills and nobody else can be seen"
        for item in REFERENCES
    }
    assert [f.check for f in reelscore.check(wordy, REFERENCES)] == ["lengths"]


def test_references_and_repeated_ids(tmp_path):
    path = tmp_path / "refs.jsonl"
    records = [{"id": f"v{k}", "caption": f"{word} {k} walks"} for k in range(9) for word in "ab"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert list(reelscore.check(path)) == []  # several captions each: references
    path.write_text("".join(json.dumps(record) + "\n" for record in [*records[::2], records[1]]))
    [finding] = reelscore.check(path)
    assert (finding.check, finding.severity, finding.count) == ("repeated_ids", "error", 1)
    assert [example.item for example in finding.examples] == ["v0", "v0"]


def test_records_without_captions(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"v1": "a man", "v2": null, "v3": "a dog", "v1": "", "v4": "a cat"}')
    [finding] = reelscore.check(path)
    assert (finding.check, finding.severity, finding.count) == ("records", "error", 2)
    assert finding.examples[0].text == "entry 2: the caption of item 'v2' is null; expected text."
    path.write_text('{"v1": null}')
    with pytest.raises(DataError, match="null"):
        reelscore.check(path)
    with pytest.raises(DataError, match="no captions"):
        reelscore.check({})


def test_references_in_the_same_file(tmp_path):
    path = tmp_path / "run.csv"
    rows = [f"v{k},person {k} is walking down the long road" for k in range(9)]
    path.write_text("id,prediction,reference\n" + "".join(f"{r},{r[3:]}\n" for r in rows))
    assert [finding.check for finding in reelscore.check(path)] == ["copies"]
    path.write_text("id,reference\n" + "".join(f"{r}\n" for r in rows))
    assert list(reelscore.check(path)) == []


def test_stories(tmp_path):
    path = tmp_path / "run.json"
    captions = [{"sentence": "a man runs", "timestamp": [0, 3]}]
    captions.append({"sentence": "he is <unk>", "timestamp": [9, 3]})
    path.write_text(json.dumps({"version": "1.0", "results": {"v_1": captions}}))
    findings = reelscore.check(path)
    assert findings.captions == 2
    assert [(finding.check, finding.examples[0].item) for finding in findings] == [
        ("markers", "v_1")
    ]
    truth = {"v_2": {"duration": 9, "timestamps": [[0, 3]], "sentences": ["a man runs"]}}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    assert "ids" in [finding.check for finding in reelscore.check(path, tmp_path / "truth.json")]


def test_findings_are_shown():
    findings = reelscore.check({"v1": "a  man\n<unk> runs", "v2": "x" * 200 + " y <unk>"})
    assert repr(findings) == findings.to_text(80)
    assert "a  man\\n<unk> runs" in findings.to_text()
    for width in (50, 80):
        assert max(map(len, findings.to_text(width).splitlines())) <= width
    plain = findings.to_dict()
    assert plain["captions"] == 2
    assert [finding["check"] for finding in plain["findings"]] == ["markers", "spaces"]
    assert plain["findings"][0]["examples"][0] == {"item": "v1", "text": "a  man\n<unk> runs"}
    assert [finding.check for finding in findings.errors] == ["markers"]


def test_the_worst_are_notes():
    assert worst_notes({"ours": CLEAN, "theirs": CLEAN}) == []
    bad = {**CLEAN, "b1": "**a** b", "b2": "a <unk>", "b3": "a <unk>", "b4": "a &amp; b"}
    first, second = worst_notes({"ours": CLEAN, "theirs": bad})
    assert first.startswith("theirs: 2 captions hold a marker")
    assert second.endswith("'reelscore check' shows more.")


def test_fixes():
    texts = {
        "v1": "a &lt;b&gt; &#39;x&#39;",
        "v2": "a man runs <pad><|im_end|>",
        "v3": "<think>a man?</think> a man",
        "v4": "\ufeffa\u200b man\t runs ",
        "v5": "itâ€™s a cafÃ©",
        "v6": "a <unk> runs",  # stands for a word
        "v7": "a <think>man",  # where it ends cannot be known
        "v8": "a man",
    }
    after, fixes = fixed(captions_of(texts))
    assert after == [
        "a <b> 'x'",
        "a man runs",
        "a man",
        "a man runs",
        "it’s a café",
        "a <unk> runs",
        "a <think>man",
        "a man",
    ]
    assert [fix.item for fix in fixes] == ["v1", "v2", "v3", "v4", "v5"]
    assert fixes[3].checks == ("control", "spaces")
    assert fixes[4].before == texts["v5"]
    again, none = fixed(captions_of(dict(zip(texts, after, strict=True))))
    assert (again, none) == (after, [])


# What people and real systems wrote


@pytest.mark.shared
@pytest.mark.parametrize("year", ["MA-2016", "SA-2018", "SA-2020"])
def test_real_references_have_no_errors(shared, year):
    references = trecvid_ha.load(shared / "trecvid-vtt-ha", year).references()
    findings = reelscore.check(references)
    assert findings.captions >= 1700
    assert findings.errors == []


@pytest.mark.shared
@pytest.mark.parametrize(
    ("system", "errors"),
    [
        ("2020/systems/trecvid20-vtt.en-en.PicSOM", {"cut_off": 931, "markers": 19}),
        ("2019/systems/trecvid19-vtt.en-en.UTS_ISA", {"loops": 142}),
        ("2016/systems/trecvid16-vtt.en-en.SHEF-UETlahore", {"cut_off": 514, "placeholder": 1}),
        ("2020/systems/trecvid20-vtt.en-en.RUC_AIM3", {}),
        ("2019/systems/trecvid19-vtt.en-en.HUMAN-E", {}),
    ],
)
def test_real_systems(shared, system, errors):
    findings = reelscore.check(shared / "trecvid-vtt-ha" / "single-annotator" / system)
    assert {finding.check: finding.count for finding in findings.errors} == errors


@pytest.mark.shared
def test_real_stories(shared):
    assert reelscore.check(shared / "dense" / "yc2_val.json.gz").errors == []
    with gzip.open(shared / "dense" / "timechat_yc2_pred_original.json.gz", "rt") as file:
        captions = sum(map(len, json.load(file).values()))
    findings = reelscore.check(shared / "dense" / "timechat_yc2_pred_original.json.gz")
    assert findings.captions == captions
    assert [finding.check for finding in findings.errors] == ["cut_off"]


def test_numbers_of_lines_match_no_ids(tmp_path):
    """Without a common beginning, line 1 of 3 would be `v1`, which is the second of v0, v1, v2."""
    references = {"v0": ["a man"], "v1": ["a dog"], "v2": ["a cat"]}
    path = tmp_path / "ours.txt"
    remedies = []
    for lines in ("a man runs\na dog\n", "a man runs\na dog\na cat\n"):
        path.write_text(lines)
        [found] = [each for each in reelscore.check(path, references) if each.check == "ids"]
        remedies.append(found.remedy)
    assert "match_ids" not in remedies[0]
    assert 'match_ids="order"' in remedies[1]
