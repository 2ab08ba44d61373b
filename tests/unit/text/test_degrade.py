"""Degraded captions: the published table, the rule that words come from other videos, real data."""

from __future__ import annotations

import string
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.errors import DataError, UnknownNameError
from reelscore.text.damages.degraded import RULES, Rules, degrade, rule_set
from reelscore_studies.judged.trecvid_ha import YEARS, load

# Table 2 of Graham, Awad and Smeaton (2018), written out.
TABLE_2 = {1: 1} | dict.fromkeys(range(2, 6), 2) | dict.fromkeys(range(6, 9), 3)
TABLE_2 |= dict.fromkeys(range(9, 16), 4) | dict.fromkeys(range(16, 21), 5)
TABLE_2 |= {n: n // 4 for n in range(21, 100)}

words = st.text(string.ascii_lowercase[:6], min_size=1, max_size=2)
caption = st.lists(words, min_size=1, max_size=30).map(" ".join)
# Two lenders whose words are their own: something fits every caption, whatever it says.
LENDERS = {
    "x1": " ".join(f"one{k}" for k in range(40)),
    "x2": " ".join(f"two{k}" for k in range(40)),
}


def test_table_2():
    assert {n: RULES["plos"].replaced(n) for n in TABLE_2} == TABLE_2


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("direct-assessment", {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 7: 3, 8: 4, 14: 4, 15: 5, 20: 5}),
        ("appraise", {1: 1, 2: 2, 5: 2, 6: 3, 8: 3, 9: 4, 15: 4, 16: 5, 20: 5, 21: 6, 80: 6}),
        ("crowd-alone", {2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 8: 3, 15: 4, 20: 5, 21: 5, 26: 6}),
    ],
)
def test_other_rule_sets(rules, expected):
    assert {n: rule_set(rules).replaced(n) for n in expected} == expected


@pytest.mark.parametrize(
    ("rules", "length", "starts"),
    [
        ("plos", 1, [0]),
        ("plos", 2, [0]),  # both words go
        ("plos", 3, [1]),  # the first stays, the last cannot
        ("plos", 4, [1]),
        ("plos", 10, [1, 2, 3, 4, 5]),
        ("direct-assessment", 2, [1]),
        ("direct-assessment", 3, [1]),
        ("direct-assessment", 10, [1, 2, 3, 4]),  # the tool leaves the last two words alone
        ("appraise", 10, [0, 1, 2, 3, 4, 5]),
        ("crowd-alone", 2, [1]),
    ],
)
def test_where_a_span_begins(rules, length, starts):
    assert list(rule_set(rules).starts(length)) == starts


@given(caption, st.integers(0, 5))
def test_span_comes_from_another_video(text, seed):
    spoilt = degrade({"v": text}, seed=seed, lenders={"v": text, **LENDERS})["v"].split()
    original = text.split()
    count = TABLE_2[len(original)]
    new = [k for k, word in enumerate(spoilt) if word[:3] in ("one", "two")]
    assert new == list(range(new[0], new[0] + count))  # one span, as long as the table says
    assert " ".join(spoilt[new[0] : new[-1] + 1]) in " | ".join(LENDERS.values())
    assert [w for k, w in enumerate(spoilt) if k not in new] == [
        w for k, w in enumerate(original) if k not in new
    ]
    if len(original) >= 4:
        assert new[0] > 0
        assert new[-1] < len(original) - 1


@given(st.dictionaries(st.text(max_size=3), caption, min_size=2, max_size=8), st.integers())
def test_never_the_original_whatever_the_captions(captions, seed):
    try:
        spoilt = degrade(captions, seed=seed)
    except DataError:  # no other caption has enough words
        return
    assert spoilt.keys() == captions.keys()
    for item, text in captions.items():
        assert spoilt[item].split() != text.split()
        assert len(spoilt[item].split()) == len(text.split())


@pytest.mark.parametrize("rules", list(RULES))
def test_case_and_punctuation_make_no_difference(rules):
    # Only v3 has something new for the middle of v1; v2 says the same in other letters.
    captions = {
        "v1": "The man runs away fast.",
        "v2": "a MAN, runs away! again",
        "v3": "so dogs bark loudly now",
    }
    for seed in range(30):
        spoilt = degrade(captions, rules=rules, seed=seed)["v1"]
        assert bare(spoilt) != bare(captions["v1"])


def test_order_of_items_does_not_matter():
    captions = {f"v{k}": f"word{k} a b{k} c d{k} e" for k in range(50)}
    turned = dict(reversed(captions.items()))
    assert degrade(captions, seed=3) == degrade(turned, seed=3)
    assert degrade(captions, seed=3) != degrade(captions, seed=4)


def test_same_on_every_machine():
    captions = {"v1": "a man rides a brown horse", "v2": "two dogs play with one red ball"}
    assert degrade(captions, seed=12345) == {
        "v1": "a play with one brown horse",
        "v2": "two dogs play rides a brown ball",
    }


def test_spans_of_lenders_are_from_the_middle():
    captions = {"v1": "one two three four five six", "v2": "First b c d e f g h last."}
    for seed in range(50):
        spoilt = degrade(captions, seed=seed)["v1"]
        assert "First" not in spoilt
        assert "last." not in spoilt


def test_edges_are_lent_only_where_nothing_else_is():
    captions = {"v1": "one two three four", "v2": "yes no"}
    assert degrade(captions | {"v2": "yes no"}, seed=1)["v1"] == "one yes no four"


def test_several_captions_of_an_item_lend_to_others_only():
    captions = {"v1": ["a b c d", "own words of it"], "v2": ["q w e r", "t z u i"]}
    for seed in range(30):
        spoilt = degrade(captions, seed=seed)
        assert spoilt["v1"] in {"a w e d", "a z u d"}
        assert spoilt["v2"] in {"q b c r", "q words of r"}


def test_a_caption_shared_by_two_videos_lends_nothing_to_either():
    captions = {"v1": "a man is running", "v2": "a man is running", "v3": "the red bird sings"}
    spoilt = degrade(captions, seed=1)
    assert spoilt["v1"] == spoilt["v2"] == "a red bird running"


@pytest.mark.parametrize(
    ("rules", "text", "expected"),
    [
        ("plos", "dancing", {"red", "bird"}),
        ("direct-assessment", "dancing", {"Red", "Bird"}),
        ("crowd-alone", "dancing", {"The"}),
        ("crowd-alone", "the", {"A"}),
        ("plos", "people dancing", {"red bird"}),
        ("direct-assessment", "people dancing", {"people red", "people bird"}),
        ("crowd-alone", "people dancing", {"people"}),
        ("plos", "two people dancing", {"two red bird"}),
    ],
)
def test_short_captions(rules, text, expected):
    lenders = {"v2": "the red bird sings"}
    lengths = {
        degrade({"v1": text}, rules=rules, seed=seed, lenders=lenders)["v1"] for seed in range(20)
    }
    assert lengths == expected


def test_long_captions_of_the_tool_get_six_words():
    captions = {"v1": " ".join(f"w{k}" for k in range(40)), **LENDERS}
    spoilt = degrade(captions, rules="direct-assessment", seed=1)["v1"].split()
    assert len(spoilt) == 40 - 10 + 6


def test_rules_of_your_own():
    every = Rules("all but the ends", (), lambda length: length - 2)
    captions = {"v1": "a b c d", "v2": "q w e r"}
    assert degrade(captions, rules=every, seed=1) == {"v1": "a w e d", "v2": "q b c r"}


def test_bad_input():
    with pytest.raises(DataError, match="2 captions have no words"):
        degrade({"v1": " ", "v2": [], "v3": "a dog"}, seed=1)
    with pytest.raises(DataError, match="lend 3 words to item 'v1'"):
        degrade({"v1": "a b c d e f", "v2": "too short"}, seed=1)
    with pytest.raises(DataError, match="No caption of another video"):
        degrade({"v1": "all the same"}, seed=1)
    with pytest.raises(UnknownNameError, match="Did you mean 'plos'"):
        degrade({"v1": "a b", "v2": "c d"}, seed=1, rules="pls")


@pytest.fixture(scope="module")
def real(shared) -> dict[str, list[str]]:
    """Captions by people, of all years: 9,410 videos, 32,038 captions."""
    captions: dict[str, list[str]] = {}
    for year in YEARS:
        people = load(shared / "trecvid-vtt-ha", f"SA-{year}").annotators
        for texts in people.values():
            for item, text in texts.items():
                captions.setdefault(f"{year}/{item}", []).append(text)
    return captions


@pytest.fixture(scope="module")
def chosen(real, full) -> list[dict[str, str]]:
    """One caption of every video, and a second one of some: 10,000, or a tenth of them."""
    first = {item: texts[0] for item, texts in real.items()}
    second = {item: texts[1] for item, texts in real.items() if len(texts) > 1}
    both = [first, dict(islice(second.items(), 10_000 - len(first)))]
    return [dict(islice(each.items(), 0, None, 1 if full else 10)) for each in both]


@pytest.mark.shared
def test_lengths_of_real_captions(real, chosen, full):
    """Words that lend themselves carry a mark of where they stood, so that each is recognised."""
    marked = {
        item: [
            " ".join(f"{word}¦{item}¦{n}¦{k}" for k, word in enumerate(text.split()))
            for n, text in enumerate(texts)
        ]
        for item, texts in real.items()
    }
    lengths = {
        (i, n): len(text.split()) for i, texts in real.items() for n, text in enumerate(texts)
    }
    replaced, expected = Counter(), Counter()
    for captions in chosen:
        spoilt = degrade(captions, seed=7, lenders=marked)
        for item, text in captions.items():
            words, new = text.split(), spoilt[item].split()
            lent = [(k, *word.split("¦")[1:]) for k, word in enumerate(new) if "¦" in word]
            replaced[len(lent)] += 1
            expected[TABLE_2[len(words)]] += 1
            begin, video, number, place = lent[0]
            assert video != item
            assert lent == [
                (begin + k, video, number, str(int(place) + k)) for k in range(len(lent))
            ]
            assert 0 < int(place) < lengths[video, int(number)] - len(lent)
            assert new[:begin] == words[:begin]
            assert new[begin + len(lent) :] == words[begin + len(lent) :]
            assert len(words) < 4 or 0 < begin < len(words) - len(lent)
    assert expected.total() == (10_000 if full else 1_000)
    assert replaced == expected


@pytest.mark.shared
def test_spans_of_real_captions(real, chosen):
    """No caption stays the same, and what came in stands in the caption of another video."""
    twins = [
        (item, text.split(), spoilt.split())
        for captions in chosen
        for (item, text), spoilt in zip(
            captions.items(), degrade(captions, seed=7, lenders=real).values(), strict=True
        )
    ]
    spans = [set(possible_spans(old, new)) for _, old, new in twins]
    items_of: dict[tuple[str, ...], set[str]] = {span: set() for each in spans for span in each}
    lengths = set(map(len, items_of))
    for item, texts in real.items():
        for text in texts:
            for span in grams(text.split(), lengths):
                if span in items_of:
                    items_of[span].add(item)
    for (item, old, new), each in zip(twins, spans, strict=True):
        assert bare(" ".join(old)) != bare(" ".join(new))
        assert any(items_of[span] - {item} for span in each)


def possible_spans(old, new):
    """Spans of the published length outside which the two are the same."""
    count = TABLE_2[len(old)]
    for start in range(len(old) - count + 1):
        if old[:start] == new[:start] and old[start + count :] == new[start + count :]:
            yield tuple(new[start : start + count])


def grams(words, lengths):
    for n in lengths:
        yield from (tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def bare(text):
    return [word.strip(string.punctuation).casefold() for word in text.split()]
