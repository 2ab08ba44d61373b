"""What papers on audio description report: R@k/N, CRITIC, and the row of ``ad``, by hand."""

from __future__ import annotations

import json
import math
import re

import pytest

import reelscore
from reelscore import parse_signature
from reelscore.errors import DataError
from reelscore.learned.judges.critic import Critic
from reelscore.learned.metrics.recall_within import RecallWithin
from reelscore.metrics.registry import resolve
from support.model_server import model_server, quotations

# Nine references without a word in common, and how near each description is to those around it.
WORDS = [f"{letter}1 {letter}2 {letter}3 {letter}4" for letter in "abcdefghi"]


def film(**captions):
    """Descriptions that repeat their references, but for some."""
    ours = {f"film_{k}": captions.get(text[0], text) for k, text in enumerate(WORDS)}
    return ours, {f"film_{k}": [text] for k, text in enumerate(WORDS)}


def test_the_windows_of_autoad():
    """Nine sentences in windows of four: the figures of the published example, .667 and .917.

    Windows begin at 0, 2 and 4; the ninth sentence is in none. The first description is nearest to
    the three others of its window, the second to one other; the fifth, in two windows, to two
    others in both.
    """
    first = "b1 b2 c1 c2 d1 d2 a1"
    second = "a1 a2 a3 b1"
    fifth = "d1 d2 f1 f2 e1"  # d is in the window c–f alone, f in both
    ours, truth = film(a=first, b=second, e=f"{fifth} g1 g2")
    scores = reelscore.score(ours, truth, RecallWithin("rouge_l", n=4, k="1/3"))
    at_1, at_3 = scores["recall_1_within_4"], scores["recall_3_within_4"]
    assert (round(at_1.score, 3), round(at_3.score, 3)) == (0.667, 0.917)
    assert at_1.score == pytest.approx(8 / 12)
    assert at_3.score == pytest.approx(11 / 12)
    assert [*at_1.items] == [f"film_{k}" for k in range(8)]
    assert (at_1.items["film_0"], at_3.items["film_0"], at_3.items["film_1"]) == (0, 0, 1)
    assert (at_1.items["film_4"], at_3.items["film_4"]) == (0, 1)


def test_a_score_that_tells_nothing_apart_gains_nothing():
    ours, truth = film(**dict.fromkeys("abcdefghi", "nothing in common"))
    scores = reelscore.score(ours, truth, "recall_within|f:meteor|n:4|k:1/3/4")
    assert [scores[name].score for name in scores] == [0, 0, 1]


def test_references_with_the_same_words_are_the_same():
    truth = {f"v{k}": [text] for k, text in enumerate(["he nods", "rain", "he nods", "snow"])}
    scores = reelscore.score(
        {item: own for item, [own] in truth.items()}, truth, "recall_within|f:meteor|n:4|k:1"
    )
    assert scores["recall_1_within_4"].score == 1


def test_films_are_apart_by_their_ids():
    """Two films of four have two windows; as one film, three, with the middle one across them."""
    texts = WORDS[:4] + WORDS[:4]
    truth = {f"film{k // 4}_{k:04}": [text] for k, text in enumerate(texts)}
    ours = {item: own for item, [own] in truth.items()}
    apart = reelscore.score(ours, truth, RecallWithin("meteor", n=4, k="1"))
    assert apart["recall_1_within_4"].score == 1
    with pytest.raises(DataError, match="no film has 5 items; take smaller windows"):
        reelscore.score(ours, truth, RecallWithin("meteor", n=5, k="1"))
    one = reelscore.score(ours, truth, RecallWithin("meteor", n=5, k="1", films="one"))
    assert one["recall_1_within_5"].items["film0_0000"] == 1


@pytest.mark.parametrize("f", ["sts", "cider", "bleu_1", "rouge_l"])
def test_any_score_is_a_similarity(f):
    ours, truth = film()
    scores = reelscore.score(ours, truth, f"recall_within|f:{f}|n:4|k:1")
    assert scores["recall_1_within_4"].score == 1


@pytest.mark.parametrize(
    "metric", [RecallWithin("bleu/n:2", 8, "1/2", "one"), Critic(cast="a b.json")]
)
def test_signatures_rebuild(metric):
    assert parse_signature(metric.signature()) == metric


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("recall_within|k:0", "k is '0'; expected whole numbers from 1 to 16"),
        ("recall_within|f:judge/see:frames", "does not compare"),
        ("critic", "whose names"),
    ],
)
def test_unusable(metric, message):
    ours, truth = film()
    with pytest.raises(DataError, match=message):
        reelscore.score(ours, truth, metric)


CAST = {"up": ["Dr. Ada King", "Ben King", "The Guard"], "down": ["Ada Stone"]}


def test_critic_by_hand(tmp_path):
    """Shares of people in common: 1/2, 0, 1, nobody, 1/3; a surname of two names no one."""
    path = tmp_path / "cast.json"
    path.write_text(json.dumps(CAST))
    rows = {
        "up/1": ("Ada waves.", "ADA waves to Ben King."),
        "up/2": ("She runs.", "Ben runs."),
        "up/3": ("Dr. Ada King's hand.", "Ada's hand."),
        "up/4": ("Ben looks up.", "King looks up."),
        "up/5": ("Ben, Ada and the guard.", "The Guard sees Ada Stone and ada."),
        "down/1": ("ada sits", "Stone sits."),
    }
    ours = {item: caption for item, (caption, _) in rows.items()}
    truth = {item: [text] for item, (_, text) in rows.items()}
    critic = reelscore.score(ours, truth, Critic(cast=str(path)))["critic"]
    by_item = {"up/1": 1 / 2, "up/2": 0, "up/3": 1, "up/5": 1 / 3, "down/1": 1}
    assert critic.items.to_dict() == pytest.approx(by_item)
    assert critic.score == pytest.approx(math.fsum(by_item.values()) / 5)
    assert re.search(r"cast:.*\|tok:raw\|items:6", critic.signature)
    assert "revision" not in critic.signature
    with pytest.raises(DataError, match="no cast of the film 'left', of item 'left/1'"):
        reelscore.score({"left/1": "Ada"}, {"left/1": ["Ada"]}, Critic(cast=str(path)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "there are no names"),
        ('{"up": "Ada"}', "expected a list of names"),
    ],
)
def test_unusable_casts(tmp_path, text, message):
    path = tmp_path / "cast.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        reelscore.score({"v": "Ada"}, {"v": ["Ada"]}, Critic(cast=str(path)))


def reader(request):
    """Tell of Ada where "she" is said and the text before names her, and of who is named."""
    shown = request["messages"][-1]["content"].partition("\nOf whom")[0]
    *before, text = quotations(shown.partition("The descriptions before")[2])
    people = [name for name in ("Dr. Ada King", "Ben King") if name.split()[-2] in text]
    if "She" in text and before and "Ada" in before[-1]:
        people.append("Dr. Ada King")
    return json.dumps({"people": people})


def test_a_model_says_whom_pronouns_mean(tmp_path):
    """Our she follows Ada, as in the reference; the other film begins with a she of nobody."""
    path = tmp_path / "cast.json"
    path.write_text(json.dumps(CAST))
    rows = {
        "up/1": ("Ada sits.", "Ada waits."),
        "up/2": ("She waves.", "Ada waves to Ben."),
        "up/3": ("Ben runs.", "She runs."),
        "down/1": ("She turns.", "She looks up."),
    }
    ours = {item: caption for item, (caption, _) in rows.items()}
    truth = {item: [text] for item, (_, text) in rows.items()}
    with model_server(reader) as server:
        asked = Critic("m", server.url, cast=str(path), journal=str(tmp_path / "answers.jsonl"))
        scores = reelscore.score(ours, truth, asked)
        # up/1: Ada and Ada; up/2: Ada of Ada and Ben; up/3: Ben, but Ada; down/1: nobody
        assert scores["critic"].items.to_dict() == {"up/1": 1.0, "up/2": 0.5, "up/3": 0.0}
        assert "critic: 8 questions asked" in scores.notes[-1]
        assert "asked:json_schema" in scores["critic"].signature
        again = reelscore.score(ours, truth, asked)
    assert "0 questions asked, 8 answers taken from the journal" in again.notes[-1]


def test_signatures_say_how_texts_are_read():
    ours, truth = film()
    for f, part in (
        ("sts", r"revision:\w{8}\|tok:raw\|items:9"),
        ("cider", r"ids\|tok:ptb\|items:9"),
    ):
        scores = reelscore.score(ours, truth, f"recall_within|f:{f}|n:4|k:1", tokenizer="none")
        assert re.search(part, scores["recall_1_within_4"].signature)


def test_the_row_of_papers():
    assert [metric.name for metric in resolve("ad")] == ["cider", "recall_within"]
    metrics = resolve("meteor,ad|cast:names.txt|model:some/model|url:http://127.0.0.1:1/v1")
    assert [metric.name for metric in metrics] == [
        *("meteor", "cider", "recall_within", "critic", "judge")
    ]
    *_, critic, judge = metrics
    assert critic.cast == "names.txt"
    assert (judge.prompt, judge.model, judge.scale) == ("llm-ad-eval", "some/model", 5)
    longer = {f"film_{k}": f"word{k}" for k in range(16)}
    scores = reelscore.score(longer, {item: [text] for item, text in longer.items()}, "ad")
    assert [*scores] == ["cider", "recall_5_within_16"]
    assert scores["recall_5_within_16"].score == 1
