"""Tokens: every line as the Stanford tokenizer of pycocoevalcap gives it."""

from __future__ import annotations

import random

import pytest
from jars import (
    ptb_lines,
    read_lines,
    tokenizer_class,
    trecvid_files,
    web_sentences,
    without_punctuation,
)

from reelscore import tokenize
from reelscore.compat.coco import PTBTokenizer

pytestmark = pytest.mark.parity

# Characters that start a new line for the jar; captions with them have no answer of their own.
LINE_BREAKS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
NEUTRAL = "zzz"  # a line that changes nothing in the one before


def differences(captions, expected, **options):
    tokens = tokenize(captions, "ptb-coco", **options)
    return [
        (caption, mine, theirs)
        for caption, mine, theirs in zip(captions, tokens, expected, strict=True)
        if mine != theirs
    ]


def compare(java, folder, captions, report, what):
    jar = ptb_lines(java, folder, captions)
    wrong = differences(captions, [line.rstrip(" ") for line in jar], keep_punctuation=True)
    wrong += differences(captions, list(map(without_punctuation, jar)))
    report(f"{what}: {len(captions):,} lines, {len(wrong)} differ")
    assert wrong[:5] == []
    return jar


@pytest.mark.shared
def test_trecvid(java, shared, full, tmp_path, report):
    captions = [line for path in trecvid_files(shared) for line in read_lines(path)]
    assert len(captions) == 251_043
    if not full:
        captions = [*captions[:5000], *captions[-5000:]]
    in_order = compare(java, tmp_path, captions, report, "TRECVid, in file order")
    # mode ptb: the same, but for lines that the jar changes with their neighbour
    apart = ptb_lines(java, tmp_path, [line for text in captions for line in (text, NEUTRAL)])[::2]
    changing = {k for k, (a, b) in enumerate(zip(in_order, apart, strict=True)) if a != b}
    alone = tokenize(captions)
    wrong = {k for k, mine in enumerate(alone) if mine != without_punctuation(in_order[k])}
    report(f"TRECVid, mode ptb: {len(wrong)} differ, the jar itself changes {len(changing)}")
    assert wrong <= changing
    expected = list(map(without_punctuation, apart))
    assert [(a, b) for a, b in zip(alone, expected, strict=True) if a != b][:5] == []


@pytest.mark.shared
def test_web_text(java, shared, full, tmp_path, report):
    captions = web_sentences(shared)
    compare(java, tmp_path, captions if full else captions[::8], report, "web text")


PIECES = [
    "a",
    "man",
    "Man",
    "THE",
    "The",
    "the",
    "B.",
    "b.",
    "no.",
    "No.",
    "U.S.",
    "p.m.",
    "Mr.",
    "Inc.",
    "etc.",
    "vs.",
    "St.",
    "'s",
    "'S",
    "n't",
    "N'T",
    "'",
    "''",
    '"',
    "`",
    "``",
    ".",
    "..",
    "...",
    "....",
    ",",
    ";",
    ":",
    "!",
    "?",
    "!!",
    "?!",
    "-",
    "--",
    "---",
    "–",
    "—",
    "…",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<b>",
    "</b>",
    "<a",
    "man>",
    "/",
    "//",
    "\\",
    "&",
    "&amp;",
    "&quot;",
    "&lt;",
    "%",
    "#",
    "$",
    "@",
    "*",
    "+",
    "=",
    "~",
    "^",
    "|",
    "_",
    "1",
    "12",
    "1/2",
    "3.5",
    "1,000",
    "10:30",
    "5'10",
    "5'10\"",
    "'90s",
    "2nd",
    "v2.0",
    "1½",
    "½",
    "é",
    "É",
    "中",
    "ß",
    "İ",
    "don't",
    "I'm",
    "they've",
    "y'all",
    "gonna",
    "cannot",
    "'tis",
    "'em",
    "O'Brien",
    "dogs'",
    "t-shirt",
    "well-known",
    "http://a.b/c",
    "www.x.com",
    "x@y.com",
    "foo.txt",
    "#tag",
    "@user",
    ":)",
    ":-(",
    ":D",
    "<3",
    "AT&T",
    "h&m",
    "w/",
    "€5",
    "£5",
    "¢",
    "°",
    "±",
    "“",
    "”",
    "‘",
    "’",
    "‚",
    "„",
    "«",
    "»",
]


def random_captions(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        pieces = rng.choices(PIECES, k=rng.randint(1, 8))
        blanks = rng.choices([" ", " ", " ", "", "\u00a0", "\t"], k=len(pieces))
        yield "".join(piece + blank for piece, blank in zip(pieces, blanks, strict=True)).rstrip()


def test_random_text(java, full, tmp_path, report):
    captions = list(random_captions(200_000 if full else 5000, 1))
    compare(java, tmp_path, captions, report, "random pieces")


def test_white_space_at_the_end_of_a_token(java, tmp_path):
    captions = ["see http://a.b/c\u00a0", "a man"]
    expected = list(map(without_punctuation, ptb_lines(java, tmp_path, captions)))
    assert tokenize(captions, "ptb-coco") == expected


def test_odd_characters(java, full, tmp_path, report):
    # every character of the first planes, between letters and alone
    codes = range(1, 0x10000 if full else 0x3100)
    known = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    known = [character for character in known if character not in LINE_BREAKS + "\n"]
    captions = [f"a{c}b a {c} b" for c in known]
    jar = ptb_lines(java, tmp_path, captions)
    assert len(jar) == len(captions)
    wrong = differences(captions, [line.rstrip(" ") for line in jar], keep_punctuation=True)
    report(f"characters: {len(captions):,}, {len(wrong)} differ")
    assert [(ascii(a), ascii(b), ascii(c)) for a, b, c in wrong[:5]] == []


def test_the_class_itself(java, tmp_path):
    captions = {
        k: [{"caption": text} for text in random_captions(1 + k % 3, k)] for k in range(100)
    }
    theirs = tokenizer_class(tmp_path)().tokenize(captions)
    assert PTBTokenizer().tokenize(captions) == theirs
