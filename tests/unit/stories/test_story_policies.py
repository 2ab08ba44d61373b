"""Videos and captions that do not fit: every policy, its effect, its note."""

from __future__ import annotations

from typing import Any

import pytest

from reelscore import DataError, Scores, stories

TRUTH = {
    "v_1": {
        "duration": 20.0,
        "timestamps": [[0, 10], [10, 20]],
        "sentences": ["a man runs", "he jumps"],
    },
    "v_2": {"duration": 10.0, "timestamps": [[0, 10]], "sentences": ["a dog sleeps"]},
}
FIRST = {"sentence": "a man runs", "timestamp": [0, 10]}


def scored(captions: dict[str, Any], **choices: Any) -> Scores:
    return stories.score(captions, TRUTH, metrics="meteor", **choices)


def test_missing_videos() -> None:
    zero, skip = (scored({"v_1": [FIRST]}, missing=how) for how in ("zero", "skip"))
    assert zero["soda_c"].items["v_2"] == 0.0
    assert list(skip["soda_c"].items) == ["v_1"]
    assert zero["anet_meteor"].score == pytest.approx(skip["anet_meteor"].score / 2)
    assert zero.notes == ("1 video has no candidates, of 2: scored zero.",)
    assert skip.notes == ("1 video has no candidates, of 2: left out.",)
    assert "missing:skip" in skip["soda_c"].signature
    assert "videos:1|" in skip["soda_c"].signature


def test_an_empty_list_is_an_answer() -> None:
    """The system saw the video and said nothing: zero, also where missing videos are left out."""
    scores = scored({"v_1": [FIRST], "v_2": []}, missing="skip")
    assert scores["soda_c"].items.to_dict()["v_2"] == 0.0
    assert scores["anet_precision"].items["v_2"] == 0.0
    assert scores.notes == ("1 video has an empty list of candidates: scored zero.",)


def test_unknown_videos() -> None:
    captions = {"v_1": [FIRST], "v_2": [FIRST], "v_9": [FIRST]}
    with pytest.raises(DataError, match=r"without references: 1 .*'v_9'.*unknown=\"skip\""):
        scored(captions)
    with pytest.raises(DataError, match=r"^mine: Videos with candidates but without references"):
        stories.score_systems({"mine": captions}, TRUTH)
    scores = scored(captions, unknown="skip")
    assert scores.notes == ("1 video has candidates but no references: left out.",)
    with pytest.raises(DataError, match="no video in common"):
        scored({"v_9": [FIRST]}, unknown="skip")


def test_ids_of_files() -> None:
    """TimeChat names files, without the v_ of the data set."""
    scores = scored({"1.mp4": [{"caption": "a man runs", "timestamp": [0, 10]}], "2.mp4": []})
    assert scores["soda_c"].items["v_1"] > 0


@pytest.mark.parametrize(("policy", "same_as"), [("keep", [0, 40]), ("clip", [0, 20])])
def test_beyond_the_end(policy: str, same_as: list[float]) -> None:
    late = {"v_1": [{"sentence": "a man runs", "timestamp": [0, 40]}], "v_2": []}
    plain = {"v_1": [{"sentence": "a man runs", "timestamp": same_as}], "v_2": []}
    scores = scored(late, beyond=policy)
    assert scores["soda_c"].score == scored(plain, beyond="keep")["soda_c"].score
    done = "kept" if policy == "keep" else "cut there"
    assert f"1 candidate reaches beyond the video's end: {done}." in scores.notes
    with pytest.raises(DataError, match="beyond the end"):
        scored(late, beyond="error")


@pytest.mark.parametrize(("policy", "same_as"), [("swap", [0, 10]), ("zero", [50, 60])])
def test_reversed_segments(policy: str, same_as: list[float]) -> None:
    turned = {"v_1": [{"sentence": "a man runs", "timestamp": [10, 0]}], "v_2": []}
    plain = {"v_1": [{"sentence": "a man runs", "timestamp": same_as}], "v_2": []}
    scores = scored(turned, reversed_segments=policy)
    for name, result in scored(plain).items():
        assert scores[name].score == result.score, name
    assert f"reversed_segments:{policy}" in scores["soda_c"].signature
    with pytest.raises(DataError, match="video 'v_1', caption 1: ends"):
        scored(turned)


def test_more_candidates_than_the_limit() -> None:
    noise = {"sentence": "x", "timestamp": [0, 10]}
    captions = {"v_1": [noise, noise, FIRST], "v_2": []}
    cut = scored(captions, max_captions=2)
    assert cut["anet_meteor"].score == 0.0
    assert cut["soda_c"].score > 0  # SODA takes all
    assert any("more than 2 candidates" in note for note in cut.notes)
    assert scored(captions)["anet_meteor"].score > 0


def test_annotators_who_lack_a_video() -> None:
    one = {"v_1": TRUTH["v_1"]}
    both = stories.score({"v_1": [FIRST], "v_2": [FIRST]}, [TRUTH, one], "soda_c")
    alone = stories.score({"v_1": [FIRST], "v_2": [FIRST]}, TRUTH, "soda_c")
    assert both["soda_c"].items.to_dict() == alone["soda_c"].items.to_dict()


def test_references_without_captions() -> None:
    bare = {**TRUTH, "v_2": {"timestamps": [], "sentences": []}}
    with pytest.raises(DataError, match=r"without reference captions: 1 .*'v_2'"):
        stories.score({"v_1": [FIRST]}, bare)


def test_wrong_kinds() -> None:
    with pytest.raises(DataError, match="candidates are a number"):
        stories.score(7, TRUTH)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="No references"):
        stories.score({"v_1": [FIRST]}, [])


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1000, "at 1,000 times the time"), (25, "at 25 times the time"), (0.01, "at 0.01 of the")],
)
def test_times_in_another_unit(factor: float, said: str) -> None:
    truth = {f"v{k}": [{"sentence": "a man runs", "timestamp": [k, 100]}] for k in range(4)}
    other = {
        video: [{"sentence": "a man runs", "timestamp": [k * factor, 100 * factor]}]
        for k, video in enumerate(truth)
    }
    [note] = [note for note in stories.score(other, truth, "soda_c").notes if "Warning" in note]
    assert said in note
    assert note.endswith("are both in seconds?")
    # early captions alone are no other unit
    early = {video: [{"sentence": "a man", "timestamp": [0, 12]}] for video in truth}
    assert not stories.score(early, truth, "soda_c").notes


def test_candidates_without_a_length() -> None:
    truth = {"v1": [{"sentence": "a man runs", "timestamp": [0, 10]}]}
    points = {"v1": [{"sentence": "a man runs", "timestamp": [5, 5]}]}
    notes = stories.score(points, truth, "soda_c").notes
    assert notes == ("1 candidate has a segment without length: no overlap.",)
