"""Paragraphs as models write them, divided into sentences."""

from __future__ import annotations

import pytest

from reelscore.text.paragraphs import split_sentences

CASES = [
    ("a man rides a horse", ["a man rides a horse"], "a caption without a full stop"),
    ("", [""], "nothing is one caption"),
    ("...", ["..."], "marks alone"),
    ("add oil. place the pan.", ["add oil.", "place the pan."], "lower case"),
    ("A man runs! Does he fall? No.", ["A man runs!", "Does he fall?", "No."], "other marks"),
    (
        "Dr. Smith meets Mr. J. Doe at 5 p.m. in St. Louis. They talk.",
        ["Dr. Smith meets Mr. J. Doe at 5 p.m. in St. Louis.", "They talk."],
        "abbreviations and initials",
    ),
    ("It is 9 a.m. The sun rises.", ["It is 9 a.m.", "The sun rises."], "one that may end"),
    ("Tools, e.g. a saw, lie there.", ["Tools, e.g. a saw, lie there."], "one that never does"),
    ("It is 3.5 m long. It is red.", ["It is 3.5 m long.", "It is red."], "a decimal"),
    ("He says no. She leaves.", ["He says no.", "She leaves."], "a word like an abbreviation"),
    ("Runner No. 5 wins. He cheers.", ["Runner No. 5 wins.", "He cheers."], "and a number"),
    (
        '"Stop!" he shouts. "Why?" She turns.',
        ['"Stop!" he shouts.', '"Why?"', "She turns."],
        "quotes",
    ),
    ("He waits... and waits. Then...", ["He waits... and waits.", "Then..."], "ellipses"),
    ("He waits… She comes.", ["He waits…", "She comes."], "an ellipsis before a capital"),
    ("A dog runs\nA cat sits", ["A dog runs", "A cat sits"], "lines without full stops"),
    ("A dog runs over\nthe grass.", ["A dog runs over the grass."], "a wrapped line"),
    ("- a dog\n- a cat\n* a cow\n• a pig", ["a dog", "a cat", "a cow", "a pig"], "bullets"),
    ("1. A dog.\n2) A cat.\n(3) A cow.", ["A dog.", "A cat.", "A cow."], "numbers"),
    ("## Summary\nA dog runs.\n---\nA cat.", ["A dog runs.", "A cat."], "headings and rules"),
    ("**Setting:** A kitchen.\n**Action**: He cooks.", ["A kitchen.", "He cooks."], "labels"),
    ("A **man** in a *red* hat, `calmly`.", ["A man in a red hat, calmly."], "emphasis"),
    ("The file_name_one is shown.", ["The file_name_one is shown."], "underscores in words"),
    ("See [the dog](http://x.org).", ["See the dog."], "links"),
    (
        "In the video, we can see a man. We can also see that he runs.",
        ["a man.", "he runs."],
        "leads into what is seen",
    ),
    (
        "Certainly! Here's a description of the video:\n\nA man cooks.\n\n"
        "Let me know if you need more details! Would you like another?",
        ["A man cooks."],
        "addressed to the reader",
    ),
    ("Would you like another?", ["Would you like another?"], "but not where nothing else is"),
    ("他在跑步。 她在看。", ["他在跑步。", "她在看。"], "other scripts"),
]


@pytest.mark.parametrize(("text", "expected", "why"), CASES, ids=[case[2] for case in CASES])
def test_sentences(text, expected, why):
    assert split_sentences(text) == expected


def test_dividing_again_divides_no_further():
    for text, _, _ in CASES:
        for sentence in split_sentences(text):
            assert split_sentences(sentence) == [sentence]
