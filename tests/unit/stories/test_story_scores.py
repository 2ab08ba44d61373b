"""SODA and the ActivityNet scorer on the embedded stories, against slow and obvious versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reelscore import (
    DataError,
    ScoreTable,
    UnknownNameError,
    compare,
    examples,
    score_systems,
    stories,
)
from reelscore import score as score_captions
from reelscore.scoring.intervals import with_intervals
from reelscore.stories import sentence_scores as texts
from reelscore.stories.activitynet import NONSENSE
from support.story_twins import TIOUS, activitynet, iou, meteor, published_f, soda

SYSTEMS, ANNOTATORS = examples.stories()


def captions_of(document: dict[str, Any]) -> dict[str, list[tuple[list[float], str]]]:
    if "results" in document:
        return {
            video: [(each["timestamp"], each["sentence"]) for each in rows]
            for video, rows in document["results"].items()
        }
    return {
        video: list(zip(truth["timestamps"], truth["sentences"], strict=True))
        for video, truth in document.items()
    }


OURS = {name: captions_of(document) for name, document in SYSTEMS.items()}
THEIRS = [captions_of(document) for document in ANNOTATORS.values()]
VIDEOS = list(THEIRS[0])


@pytest.mark.parametrize("name", ["soda_a", "soda_b", "soda_c"])
@pytest.mark.parametrize("annotators", ["mean", "merge", "best"])
def test_soda(name: str, annotators: Any) -> None:
    results = stories.score(SYSTEMS["verbose"], ANNOTATORS.values(), name, annotators=annotators)
    for video in VIDEOS:
        ours = OURS["verbose"][video]
        if annotators == "merge":
            expected = soda(ours, THEIRS[0][video] + THEIRS[1][video], name)
        else:
            each = [soda(ours, truth[video], name) for truth in THEIRS]
            best = max(each, key=lambda row: row[2])
            expected = best if annotators == "best" else np.mean(each, axis=0)
        scored = [results[f"{name}{end}"].items[video] for end in ("_precision", "_recall", "")]
        assert scored == pytest.approx(expected, abs=1e-12)
    assert results[name].score == pytest.approx(np.mean(results[name].items.array))


def test_swapped_meteor() -> None:
    results = stories.score(
        SYSTEMS["concise"], ANNOTATORS["annotator_1"], "soda_c", meteor_order="swapped"
    )
    for video in VIDEOS:
        expected = soda(
            OURS["concise"][video], THEIRS[0][video], "soda_c", lambda p, g: meteor(g, p)
        )
        assert results["soda_c"].items[video] == pytest.approx(expected[2], abs=1e-12)


# References that are not in time order, with characters that are not ASCII.
UNORDERED = {
    "v1": {
        "timestamps": [[6, 12], [0, 7], [11, 20]],
        "sentences": ["a waiter serves the café", "a naïve man opens the door", "he runs home"],
    }
}
CANDIDATES = {
    "v1": [
        {"timestamp": [10, 19], "sentence": "a man runs"},
        {"timestamp": [0, 6], "sentence": "the naïve man opens a big door slowly"},
        {"timestamp": [5, 12], "sentence": "a waiter in the café"},
    ]
}
PUBLISHED = {"meteor_order": "swapped", "reference_order": "file", "characters": "ascii"}


def test_soda_as_published() -> None:
    scores = stories.score(CANDIDATES, UNORDERED, preset="soda-published")
    ours, theirs = (
        [(each["timestamp"], each["sentence"]) for each in CANDIDATES["v1"]],
        captions_of(UNORDERED)["v1"],
    )
    expected = soda(ours, theirs, "soda_c", published_f, order=list)
    parts = [scores[f"soda_c{end}"].score for end in ("_precision", "_recall", "")]
    assert parts == pytest.approx(expected, abs=1e-12)
    assert (
        "meteor_order:swapped|reference_order:file|characters:ascii" in scores["soda_c"].signature
    )
    assert scores.to_dict() == stories.score(CANDIDATES, UNORDERED, "soda_c", **PUBLISHED).to_dict()
    # Each of the three choices moves this number by itself; the default has none of them.
    numbers = {scores["soda_c"].score}
    for choice in ({}, *({name: value} for name, value in PUBLISHED.items())):
        numbers.add(stories.score(CANDIDATES, UNORDERED, "soda_c", **choice)["soda_c"].score)
    assert len(numbers) == 5
    scorer = stories.StoryScorer([stories.stories_of(UNORDERED)], stories.preset("soda-published"))
    [shown] = scorer.matchings(stories.stories_of(CANDIDATES), "v1")
    assert (shown.precision, shown.recall, shown.f1) == pytest.approx(parts)


def test_signatures_tell_orders_of_the_file_apart() -> None:
    row = UNORDERED["v1"]
    turned = {"v1": {name: values[::-1] for name, values in row.items()}}

    def signatures(**choices: Any) -> set[str]:
        return {
            stories.score(CANDIDATES, truth, "soda_c", **choices)["soda_c"].signature
            for truth in (UNORDERED, turned)
        }

    assert len(signatures()) == 1
    assert len(signatures(reference_order="file")) == 2


def test_captions_of_several_sentences_are_read_by_the_sentence() -> None:
    """A story of one long caption, so that SODA is f itself."""
    ours, theirs = "A man sings. A dog barks loudly.", "the dog barks. a woman claps. it rains."
    times = {"timestamps": [[0, 5]], "duration": 5}
    for f in ("meteor|sentences:precision", "meteor|sentences:recall"):
        scored = stories.score(
            {"v": [{"sentence": ours, "timestamp": [0, 5]}]},
            {"v": {"sentences": [theirs], **times}},
            "soda_c",
            f=f,
        )
        expected = score_captions({"v": ours}, {"v": [theirs]}, f)["meteor"].score
        assert scored["soda_c"].score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("f", ["rouge_l", "bleu_2", "sent_bleu", "cider"])
def test_other_sentence_scores(f: str) -> None:
    results = stories.score(SYSTEMS["concise"], ANNOTATORS.values(), "soda_c", f=f)
    sentences = {
        f"{k}{video}{n}": [sentence]
        for k, truth in enumerate(THEIRS)
        for video, rows in truth.items()
        for n, (_, sentence) in enumerate(rows)
    }

    def of_pair(candidate: str, reference: str) -> float:
        if f != "cider":
            name = "bleu|n:2" if f == "bleu_2" else f
            return score_captions({"v": candidate}, {"v": [reference]}, name)[f].score
        # Every reference caption is a document: score the candidate among all of them.
        item = next(key for key, value in sentences.items() if value == [reference])
        everything = dict.fromkeys(sentences, "x") | {item: candidate}
        return score_captions(everything, sentences, "cider")["cider"].items[item]

    video = "v_dogwash"
    expected = np.mean(
        [soda(OURS["concise"][video], truth[video], "soda_c", of_pair) for truth in THEIRS], axis=0
    )
    assert results["soda_c"].items[video] == pytest.approx(expected[2], abs=1e-9)
    assert f"f:{f.split('_2')[0]}" in results["soda_c"].signature


@pytest.mark.parametrize("variant", list(NONSENSE))
@pytest.mark.parametrize("system", list(SYSTEMS))
def test_activitynet(variant: Any, system: str) -> None:
    results = stories.score(SYSTEMS[system], ANNOTATORS.values(), "activitynet", variant=variant)
    expected = [activitynet(OURS[system], THEIRS, tiou, NONSENSE[variant]) for tiou in TIOUS]
    for name in ("meteor", "rouge_l", "cider", "bleu"):
        mine = results["anet_bleu_4" if name == "bleu" else f"anet_{name}"]
        for tiou, values in zip(TIOUS, expected, strict=True):
            mean = np.mean(list(values[name].values()))
            assert mine.by_tiou[f"{tiou:g}"] == pytest.approx(mean, abs=1e-12)
        for video in VIDEOS:
            mean = np.mean([values[name][video] for values in expected])
            assert mine.items[video] == pytest.approx(mean, abs=1e-12)


def test_activitynet_tokenizes_as_the_official_scorer() -> None:
    """Look-ahead across captions, characters beyond ASCII, METEOR's separator."""
    sentences = [
        "He draws a capital T.",
        "The café’s naïve owner waves",
        "she says plan B.",
        "a man ||| runs to the U.S.",
        "1 1/2 cups",
        "",
    ]
    ours = {"v1": [([0, 9], each) for each in sentences], "v2": [([0, 9], "He ran to No.")]}
    theirs = {
        "v1": [([0, 9], "They draw a capital T."), ([1, 9], "plan B."), ([5, 9], "a café in No.")],
        "v2": [([0, 8], "He ran."), ([0, 2], "x")],
    }
    documents = [
        {
            video: [{"timestamp": segment, "sentence": text} for segment, text in rows]
            for video, rows in each.items()
        }
        for each in (ours, theirs)
    ]
    results = stories.score(*documents, "activitynet", empty="zero")
    expected = [activitynet(ours, [theirs], tiou) for tiou in TIOUS]
    for name in ("meteor", "rouge_l", "cider", "bleu"):
        for video in ours:
            mean = np.mean([values[name][video] for values in expected])
            mine = results["anet_bleu_4" if name == "bleu" else f"anet_{name}"].items[video]
            assert mine == pytest.approx(mean, abs=1e-12), (name, video)


def test_detection() -> None:
    results = stories.score(SYSTEMS["verbose"], ANNOTATORS.values(), "activitynet")
    for tiou in TIOUS:
        rows = []
        for video in VIDEOS:
            ours = OURS["verbose"][video]
            shares = []
            for truth in THEIRS:
                hit = np.array([[iou(p[0], g[0], 1e-8) > tiou for g in truth[video]] for p in ours])
                shares.append((hit.any(axis=1).mean(), hit.any(axis=0).mean()))
            rows.append(np.max(shares, axis=0))
        precision, recall = np.mean(rows, axis=0)
        for name, value in (
            ("precision", precision),
            ("recall", recall),
            ("f1", 2 * precision * recall / (precision + recall)),
        ):
            by_tiou = results[f"anet_{name}"].by_tiou
            assert by_tiou[f"{tiou:g}"] == pytest.approx(value, abs=1e-12)


def test_small_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One video a batch, and stories longer than a batch, matched piece by piece."""
    whole = stories.score(SYSTEMS["verbose"], ANNOTATORS.values())
    for module in ("story_scorer", "soda", "activitynet", "sentence_scores"):
        monkeypatch.setattr(f"reelscore.stories.{module}.PAIRS_AT_ONCE", 17)
    assert texts.PAIRS_AT_ONCE == 17
    pieces = stories.score(SYSTEMS["verbose"], ANNOTATORS.values())
    for name, result in whole.items():
        assert pieces[name].items.array == pytest.approx(result.items.array, abs=1e-12), name


def test_progress_begins_anew_for_every_system() -> None:
    seen: list[tuple[int, int]] = []
    stories.score_systems(
        SYSTEMS,
        ANNOTATORS.values(),
        "soda_c",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(0, 5), (5, 5)] * len(SYSTEMS)


def test_threads_change_nothing() -> None:
    one, four = (
        stories.score(SYSTEMS["verbose"], ANNOTATORS.values(), threads=threads).to_dict()
        for threads in (1, 4)
    )
    assert one == four


def test_stories_give_a_score_table_like_captions(tmp_path: Path) -> None:
    """The same type as from captions; thresholds and matchings hang on it."""
    table = stories.score_systems(SYSTEMS, ANNOTATORS.values())
    assert type(table) is type(score_systems(*examples.clips(), "rouge_l"))
    assert table.systems == list(SYSTEMS)
    row = table["concise"]
    assert list(row)[6:9] == ["soda_c_precision", "soda_c_recall", "soda_c"]
    assert list(row["anet_meteor"].by_tiou) == ["0.3", "0.5", "0.7", "0.9"]
    assert np.mean(list(row["anet_meteor"].by_tiou.values())) == pytest.approx(
        row["anet_meteor"].score
    )
    assert row["soda_c"].by_tiou == {}
    shown = table.sources.timelines
    assert list(shown) == list(SYSTEMS)
    assert shown["concise"]["v_kayak"].score == "soda_c"
    assert (
        stories.score_systems(SYSTEMS, ANNOTATORS.values(), "activitynet").sources.timelines == {}
    )
    table.write(tmp_path / "stories.json")
    again = ScoreTable.read(tmp_path / "stories.json")
    assert again["concise"]["anet_meteor"].by_tiou == row["anet_meteor"].by_tiou
    assert again.to_dict() == table.to_dict()


def test_intervals_and_comparisons() -> None:
    table = stories.score_systems(SYSTEMS, ANNOTATORS.values(), "soda_c,activitynet")
    result = with_intervals(table, resamples=100)["concise"]["soda_c"]
    assert result.interval is not None
    assert result.interval[0] <= result.score <= result.interval[1]
    assert "resamples:100" in result.signature
    comparisons = compare(table, "concise", tests=["randomization"], trials=99)
    assert [each.metric for each in comparisons if each.method] == table.metrics


def test_presets_differ_as_documented() -> None:
    truth = ANNOTATORS.values()
    swapped = stories.score(SYSTEMS["concise"], truth, preset="vid2seq")
    assert "meteor_order:swapped" in swapped["soda_c"].signature
    assert "soda_a" not in swapped
    mine = stories.score(SYSTEMS["concise"], truth, preset="soda-paper")
    assert mine["soda_c"].score == pytest.approx(
        stories.score(SYSTEMS["concise"], truth, annotators="merge")["soda_c"].score
    )
    assert "variant:2017-fixed" in mine["anet_meteor"].signature
    changed = stories.score(SYSTEMS["concise"], truth, preset="pdvc", missing="skip")
    assert "missing:skip" in changed["soda_c"].signature
    with pytest.raises(UnknownNameError, match="anet-challenge"):
        stories.score(SYSTEMS["concise"], truth, preset="anet")


BAD_CHOICES = [
    ({"annotators": "all"}, UnknownNameError, "annotators="),
    ({"anotators": "mean"}, UnknownNameError, "Did you mean 'annotators'"),
    ({"scores": ""}, DataError, "No scores"),
    ({"scores": "sodac"}, UnknownNameError, "scores="),
    ({"tious": (1.5,)}, DataError, "from 0 to 1"),
    ({"tious": (0.5, 0.5)}, DataError, "once"),
    ({"max_captions": 0}, DataError, "at least 1"),
    ({"f": "self_bleu"}, DataError, "does not compare"),
    ({"f": "rouge_l", "meteor_order": "swapped"}, DataError, "applies to METEOR only"),
]


@pytest.mark.parametrize(("choices", "error", "message"), BAD_CHOICES)
def test_bad_choices(choices: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        stories.score(SYSTEMS["concise"], ANNOTATORS.values(), **choices)


@pytest.mark.parametrize("name", ["soda_a", "soda_b", "soda_c"])
def test_matchings_add_up_to_the_scores(name: str) -> None:
    truth = [stories.stories_of(document) for document in ANNOTATORS.values()]
    ours = stories.stories_of(SYSTEMS["verbose"])
    protocol = stories.Protocol(scores=(name,), tious=(0.5,))
    scorer = stories.StoryScorer(truth, protocol)
    scores = scorer.score(ours)[name].items
    for video in VIDEOS:
        matchings = scorer.matchings(ours, video, name, tiou=0.5)
        assert len(matchings) == 2
        assert np.mean([each.f1 for each in matchings]) == pytest.approx(scores[video], abs=1e-12)
        for story in matchings:
            places = [each.reference for each in story.matches]
            starts = [story.references.segments[k][0] for k in places]
            assert starts == sorted(starts)
    merged = stories.StoryScorer(truth, protocol.but(annotators="merge"))
    assert len(merged.matchings(ours, VIDEOS[0], name)) == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'v_kayak'"):
        scorer.matchings(ours, "v_kayaks")
