"""Paragraphs as models write them, divided into sentences."""

from __future__ import annotations

import pytest

from reelscore.text.paragraphs import split_sentences

CASES = [
    ("a man rides a horse", ["a man rides a horse"], "a caption without a full stop"),
    ("", [""], "nothing is one caption"),
    ("...", ["..."], "marks alone"),
    ("A dog runs . . A cat sits .", ["A dog runs .", "A cat sits ."], "marks between"),
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
    (
        "1. A man sits. 2. He eats. 3. He goes.",
        ["A man sits.", "He eats.", "He goes."],
        "numbers in a line",
    ),
    ("Two options: (1) run or (2) hide.", ["Two options: (1) run or (2) hide."], "in a sentence"),
    ("The score is 3. He cheers.", ["The score is 3.", "He cheers."], "a number at an end"),
    (
        "1. **Start** \n   - He waves.\n2. **End**\n   - He stops.",
        ["He waves.", "He stops."],
        "nested",
    ),
    ("**A man sits.**\n**He eats.**", ["A man sits.", "He eats."], "sentences in bold"),
    ("**A man sits**\n**He eats**", ["A man sits", "He eats"], "nothing but bold lines"),
    (
        "| Time | Event |\n|---|---|\n| 0:05 | A man sits |\n| 0:10 | He eats |",
        ["A man sits", "He eats"],
        "tables",
    ),
    (
        "[00:00 - 00:05] A man sits.\n[00:05 - 00:10] He eats.",
        ["A man sits.", "He eats."],
        "times in brackets",
    ),
    ("0:00 – 0:05: A man sits. 5s-10s: He eats.", ["A man sits.", "He eats."], "times with colons"),
    (
        "The clock shows 10:30. A bus comes.",
        ["The clock shows 10:30.", "A bus comes."],
        "a time that is told",
    ),
    ("Step 1: Add oil.\nStep 2: Add salt.", ["Add oil.", "Add salt."], "steps"),
    ("Setting: A kitchen.\nAction: He cooks.", ["A kitchen.", "He cooks."], "plain labels"),
    ("A man says: Hello. She waves.", ["A man says: Hello.", "She waves."], "a colon that is none"),
    (
        "Sure, here's the caption: A cat sleeps. It wakes.",
        ["A cat sleeps.", "It wakes."],
        "led in within a line",
    ),
    (
        "Based on the frames, a man cooks. He eats.",
        ["a man cooks.", "He eats."],
        "what it is based on",
    ),
    ("Here we see a train. Then we see a bus.", ["a train.", "a bus."], "more leads"),
    (
        "From the roof you can see the sea. He jumps.",
        ["From the roof you can see the sea.", "He jumps."],
        "not a lead",
    ),
    (
        "A man says that we can see him. He waves.",
        ["A man says that we can see him.", "He waves."],
        "nor within a sentence",
    ),
    ("A man cooks. How can I help you further?", ["A man cooks."], "offers behind it"),
    ("A man cooks. Where is he?", ["A man cooks.", "Where is he?"], "but no other questions"),
    ("Does he fall? He does not.", ["Does he fall?", "He does not."], "but not before it"),
    (
        "Here is a man. If you have oil, add it.",
        ["Here is a man.", "If you have oil, add it."],
        "said of the video",
    ),
    ("A man sits.He eats.", ["A man sits.", "He eats."], "a blank forgotten"),
    (
        "At www.example.com he buys shoes. He pays.",
        ["At www.example.com he buys shoes.", "He pays."],
        "names of sites",
    ),
    (
        "It goes 3 m/s. He gets a B. They wave.",
        ["It goes 3 m/s.", "He gets a B.", "They wave."],
        "letters that are no initials",
    ),
    (
        "J. K. Rowling reads. The U.S. Army marches.",
        ["J. K. Rowling reads.", "The U.S. Army marches."],
        "names in letters",
    ),
    (
        "He runs 5 km. in 20 min. and rests. Then he eats.",
        ["He runs 5 km. in 20 min. and rests.", "Then he eats."],
        "units",
    ),
    ("A man sits.<br>He eats.</s>", ["A man sits.", "He eats."], "tags"),
    ("<think>Hm. A man?</think>A man sits. He eats.", ["A man sits.", "He eats."], "thoughts"),
    ("<|im_start|>assistant\nA man sits.<|im_end|>", ["A man sits."], "marks of a chat"),
    ('"A man sits. He eats."', ["A man sits.", "He eats."], "quotes around all"),
    ("他在跑步。她在看。", ["他在跑步。", "她在看。"], "no blank at all"),
]


@pytest.mark.parametrize(("text", "expected", "why"), CASES, ids=[case[2] for case in CASES])
def test_sentences(text, expected, why):
    assert split_sentences(text) == expected


def test_dividing_again_divides_no_further():
    for text, _, _ in CASES:
        for sentence in split_sentences(text):
            assert split_sentences(sentence) == [sentence]
