"""The PTB step: the jar's answers, and what each is about."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import reelscore
from reelscore import DataError, UnknownNameError, tokenize
from reelscore.text.tokens import thread_count

GOLDEN = Path(__file__).parents[2] / "golden" / "ptb.json"
SPECIFICATION = GOLDEN.parent / "specification"
DROPPED = {"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"}


def without_punctuation(line):
    return " ".join(token for token in line.split(" ") if token not in DROPPED)


# The jar's answers, from the specification.
FROM_THE_SPEC = [
    ("", "", "empty"),
    (" \t ", "", "blank"),
    ("A man RUNS", "a man runs", "lower case"),
    ("(a man)", "-lrb- a man -rrb-", "brackets stay: the list of punctuation has capitals"),
    ("[a] {b}", "-lsb- a -rsb- -lcb- b -rcb-", "brackets"),
    ("what?!", "what ?!", "a run of marks is not in the list"),
    ("can't won't isn't", "ca n't wo n't is n't", "contractions"),
    ("I'd've", "i 'd 've", "stacked contractions"),
    ("cannot gonna", "can not gon na", "assimilations"),
    ("the man\u2019s dog", "the man 's dog", "a curly apostrophe"),
    ("dogs' bowls", "dogs bowls", "a trailing apostrophe is dropped"),
    ("5'10", "5 '10", "read as a year"),
    ("a t-shirt, 2-year-old", "a t-shirt 2-year-old", "hyphens inside words stay"),
    ("man\u2014woman", "man woman", "a dash splits"),
    ("1,000 3.5 10:30 .50", "1,000 3.5 10:30 .50", "numbers"),
    ("1 1/2 cups", "1\u00a01/2 cups", "a no-break space inside a token"),
    ("v2.0", "v2 .0", "letters and a decimal"),
    ("\u20ac5 \u00a35", "$ 5 # 5", "currencies"),
    ("AT&T h&m", "at&t h & m", "ampersands in capitals and small letters"),
    ("wait... what", "wait what", "an ellipsis is dropped"),
    ("see www.x.com now", "see www.x.com now", "addresses"),
    ("a <unk> man", "a <unk> man", "markup"),
    ("hi :)", "hi :-rrb-", "a smiley"),
    ("Mr. Smith vs. Dr. No", "mr. smith vs. dr. no", "titles keep their dots"),
    ("man.the", "man.the", "words glued by a dot stay glued"),
    ("one,two", "one two", "but not by a comma"),
    ("a man \U0001f600 runs", "a man runs", "emoji are dropped"),
    ("colour grey", "colour grey", "no American spelling"),
]


@pytest.mark.parametrize(("caption", "expected", "why"), FROM_THE_SPEC)
def test_examples_of_the_specification(caption, expected, why):
    assert tokenize([caption]) == [expected], why


@pytest.mark.parametrize("name", ["ptb_examples.json", "ptb_examples2.json"])
def test_all_examples(name):
    stored = json.loads((SPECIFICATION / name).read_text())
    examples = stored["examples"] if isinstance(stored, dict) else stored
    assert len(examples) in (385, 178)
    # the jar answered all of them in one file, so that each has the next one after it; captions
    # that break lines for the jar have no answer of their own
    examples = [each for each in examples if not _breaks_lines(each["input"])]
    captions = [each["input"] for each in examples]
    kept = tokenize(captions, "ptb-coco", keep_punctuation=True)
    dropped = tokenize(captions, "ptb-coco")
    alone = tokenize(captions, "ptb")
    wrong = []
    for each, line, short, own in zip(examples, kept, dropped, alone, strict=True):
        expected = each.get("output", without_punctuation(each["jar_line"].rstrip()))
        if (line, short, own) != (each["jar_line"].rstrip(), expected, expected):
            wrong.append((each, line, short, own))
    assert wrong == []


def _breaks_lines(text):
    return any(mark in text for mark in "\r\x0b\x0c\u2028\u2029")


def test_context_examples():
    examples = json.loads((SPECIFICATION / "ptb_context_examples.json").read_text())
    assert len(examples) == 33
    for each in examples:
        if not any(map(_breaks_lines, each["lines"])):
            kept = tokenize(each["lines"], "ptb-coco", keep_punctuation=True)
            assert kept == [line.rstrip() for line in each["jar_lines"]], each["lines"]


def test_abbreviations():
    contexts = {
        "lower": ("he saw {}. he left", " he left"),
        "upper": ("he saw {}. Bill left", " bill left"),
        "digit": ("he saw {}. 5 men", " 5 men"),
        "eol": ("he saw {}.", ""),
        "comma": ("he saw {}., then", " , then"),
    }
    wrong = []
    for word, answers in json.loads((SPECIFICATION / "ptb_abbrev.json").read_text()).items():
        for context, (pattern, rest) in contexts.items():
            caption = pattern.format(word)
            expected = {
                "kept": f"he saw {word.lower()}.{rest}",
                "kept+dot": f"he saw {word.lower()}. .{rest}",
                "split": f"he saw {word.lower()} .{rest}",
            }.get(answers[context])
            tokens = tokenize([caption, "zzz"], "ptb-coco", keep_punctuation=True)[0]
            if expected is not None and tokens != expected:
                wrong.append((caption, tokens, expected))
    assert wrong == []


def golden():
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN} is not there")
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_golden_captions():
    cases = golden()["cases"]
    assert len(cases) > 700
    captions = [case["input"] for case in cases]
    for case, kept, dropped in zip(
        cases, tokenize(captions, keep_punctuation=True), tokenize(captions), strict=True
    ):
        assert kept == case["jar"], case
        assert dropped == case.get("output", case["jar"]), case


def test_golden_contexts():
    cases = golden()["contexts"]
    assert len(cases) > 40
    for case in cases:
        assert tokenize(case["lines"], "ptb-coco", keep_punctuation=True) == case["jar"], case
        assert tokenize(case["lines"], "ptb-coco") == case["output"], case


NEIGHBOURS = [
    # caption, next caption, with it, alone, why
    ("plan B.", "The man", "plan b", "plan b.", "a capitalised function word follows"),
    ("plan B.", "the man", "plan b.", "plan b.", "no capital"),
    ("he says no.", "2 men", "he says no.", "he says no", "a number follows"),
    ("he says no.", "two men", "he says no", "he says no", "no number"),
    ("he saw Bill Jr.", "zzz", "he saw bill jr.", "he saw bill jr.", "an abbreviation at the end"),
]


@pytest.mark.parametrize(("caption", "following", "together", "alone", "why"), NEIGHBOURS)
def test_look_ahead(caption, following, together, alone, why):
    assert tokenize([caption, following], "ptb-coco")[0] == together, why
    assert tokenize([caption, following], "ptb")[0] == alone, why
    assert tokenize([caption], "ptb-coco")[0] == alone, why


@pytest.mark.parametrize("tokenizer", ["ptb", "ptb-coco"])
@pytest.mark.parametrize("mark", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\u2028", "\u2029"])
def test_line_breaks_inside_a_caption(mark, tokenizer):
    # in the COCO tools all but the first would shift every caption after this one
    assert tokenize([f"a man{mark}runs", "a dog"], tokenizer) == ["a man runs", "a dog"]


def test_none_changes_nothing():
    texts = ["A man's dog.", "", " a  b\t"]
    assert tokenize(texts, "none") == texts


def test_kinds_of_input():
    assert tokenize([]) == []
    assert tokenize(("A man.",)) == tokenize(text for text in ["A man."]) == ["a man"]
    with pytest.raises(UnknownNameError, match=r"Known: .*none, ptb, ptb-coco"):
        tokenize(["a"], "moses")


def test_one_text_is_no_list():
    with pytest.raises(DataError):
        tokenize("A man")


@pytest.mark.parametrize("text", [None, 3, b"a", "\ud800"])
def test_no_text(text):
    with pytest.raises(DataError):
        tokenize([text])


def test_many_words():
    words = " ".join(f"word{k}" for k in range(10_000))
    assert tokenize([words]) == [words]


def test_thread_count():
    assert thread_count(3) == 3
    assert thread_count(None) >= 1


@pytest.mark.parametrize("threads", [0, -1, 2.5, "2"])
def test_thread_counts_that_are_none(threads):
    with pytest.raises(DataError, match=re.escape(f"threads={threads!r}: expected a whole number")):
        reelscore.score({"v1": "a man"}, {"v1": ["a man"]}, "bleu", threads=threads)
