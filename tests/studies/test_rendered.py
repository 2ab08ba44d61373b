"""Rendered clips: the same everywhere, no movie in two sets, one dose at a time."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli
from reelscore.data import read_candidates, read_references
from reelscore.errors import DataError
from reelscore.text.tokens import tokenize
from reelscore_studies.baselines.clip_features import read_features
from reelscore_studies.rendered.actions import ACTIONS, UNSEEN
from reelscore_studies.rendered.dataset import RenderedClips, write_clips
from reelscore_studies.rendered.features import motion_histograms
from reelscore_studies.rendered.frames import render
from reelscore_studies.rendered.grammar import captions_of
from reelscore_studies.rendered.scenes import OBJECTS, PLACES, draw_movie, draw_scene, sprites

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/rendered1.json").read_text())


def fingerprint(seed, movie, clip):
    frames = render(seed, draw_scene(seed, movie, clip)).frames
    texts = "\n".join(caption.text for caption in captions_of(seed, movie, clip))
    return {
        "frames": hashlib.sha256(frames.tobytes()).hexdigest()[:16],
        "captions": hashlib.sha256(texts.encode()).hexdigest()[:16],
    }


def test_golden_clips():
    """The generator is frozen: another one must have another name."""
    assert len(GOLDEN["clips"]) == 20
    for row in GOLDEN["clips"]:
        seed, movie, clip = row["key"]
        assert fingerprint(seed, movie, clip) == {k: row[k] for k in ("frames", "captions")}


def test_a_clip_does_not_depend_on_those_before():
    script = (
        "from reelscore_studies.rendered.frames import render\n"
        "from reelscore_studies.rendered.scenes import draw_scene\n"
        "import hashlib\n"
        "print(hashlib.sha256(render(0, draw_scene(0, 7, 5)).frames.tobytes()).hexdigest()[:16])"
    )
    alone = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert alone.stdout.strip() == fingerprint(0, 7, 5)["frames"]


def test_what_the_specification_counts():
    assert (len(PLACES), len(OBJECTS), len(ACTIONS), len(UNSEEN)) == (10, 16, 24, 8)
    assert set(sprites()) == set(OBJECTS)
    assert all(picture.shape == (2, 9, 9) for picture in sprites().values())
    for even in range(0, 10, 2):
        assert PLACES[even].wall == PLACES[even + 1].wall
    weights = {action.name: action.weight for action in ACTIONS}
    assert (weights["walk"], weights["crawl"]) == (16, 0.7)
    assert {len(movies) for movies in RenderedClips("full").movies().values()} == {80, 20}
    gains = [draw_movie(0, movie).gain for movie in range(200)]
    assert 0.6 <= min(gains) < 0.65
    assert 1.15 < max(gains) <= 1.2


@pytest.fixture(scope="module")
def captions():
    return [captions_of(0, movie, clip) for movie in range(20) for clip in range(100)]


def test_shares_of_the_grammar(captions):
    """Each share is within about three deviations of what it should be."""
    mains = [caption.clauses[0] for clip in captions for caption in clip[1:]]
    unseen = {name for _, name in UNSEEN}
    share = Counter()
    for clause in mains:
        share["person"] += clause.subject != "someone"
        share["place"] += clause.location is not None
        share["unseen"] += clause.verb in unseen
    assert share["person"] / len(mains) == pytest.approx(0.28, abs=0.02)
    assert share["place"] / len(mains) == pytest.approx(0.50, abs=0.02)
    assert share["unseen"] / len(mains) == pytest.approx(0.08, abs=0.012)
    too = [len(caption.clauses) == 2 for clip in captions for caption in clip[1:]]
    assert np.mean(too) == pytest.approx(0.06 * 0.92, abs=0.01)
    lengths = [len(text.split()) for text in tokenize([clip[0].text for clip in captions])]
    assert 4 < np.mean(lengths) < 8


def test_a_tenth_describes_the_clip_before():
    aligned = [captions_of(0, m, c, misaligned=0.0) for m in range(5) for c in range(100)]
    usual = [captions_of(0, m, c) for m in range(5) for c in range(100)]
    first = np.array([a[0].text != b[0].text for a, b in zip(aligned, usual, strict=True)])
    # a few of the misaligned ones say the same by chance
    assert 0.06 < first.mean() < 0.12
    assert all(a[1:] == b[1:] for a, b in zip(aligned, usual, strict=True))
    assert not first[::100].any()  # nothing is before the first clip of a movie


def test_motion_has_the_direction_of_the_action():
    scenes = [draw_scene(0, movie, clip) for movie in range(4) for clip in range(100)]
    fast = [s for s in scenes if s.action.name == "run"][:12]
    still = [s for s in scenes if s.action.name == "nod"][:12]
    moving = motion_histograms(np.stack([render(0, s).frames for s in fast]))
    calm = motion_histograms(np.stack([render(0, s).frames for s in still]))
    moved = 1 - moving.reshape(len(fast), 9, 17)[:, :, 16].sum(axis=1)
    rested = 1 - calm.reshape(len(still), 9, 17)[:, :, 16].sum(axis=1)
    assert moved.mean() > rested.mean()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("rendered") / "clips"
    result = CliRunner().invoke(cli, ["caption", "render", str(home), "--size", "tiny"])
    assert result.exit_code == 0, result.output
    assert "rendered clips (synthetic), rendered1, seed 0: 180 train" in result.stdout
    return home


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_folder(folder):
    sets = {name: read_candidates(folder / f"{name}.json") for name in ("train", "val", "test")}
    assert [len(items) for items in sets.values()] == [180, 60, 60]
    movies = [{item.split("_")[1] for item in items} for items in sets.values()]
    assert sum(map(len, movies)) == len(set().union(*movies)) == 10
    four = read_references(folder / "references/test.json")
    assert {len(texts) for texts in four.values()} == {4}
    assert all(four[item][0] == text for item, text in sets["test"].items())
    widths = {"idt": 153, "lsda": 16, "places": 10, "hybrid": 136}
    for name, width in widths.items():
        features = read_features(folder / f"features/test/{name}.npy")
        assert features.matrix.shape == (60, width)
        assert features.matrix.min() >= 0
        assert list(features.items) == list(sets["test"])
    for name, items in sets.items():
        assert {line["item"] for line in lines(folder / f"tuples/{name}.jsonl")} == set(items)
    truth = lines(folder / "truth.jsonl")
    assert len(truth) == 300
    assert set(truth[0]) == {"item", "place", "verb", "object", "who"}
    places = read_features(folder / "features/test/places.npy")
    names = [place.name for place in PLACES]
    right = [
        names[int(row.argmax())] == line["place"]
        for row, line in zip(places.matrix, truth[-60:], strict=True)
    ]
    assert np.mean(right) > 0.4  # of ten; the tiny set trains its networks on few clips


def test_a_second_call_renders_nothing_again(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    write_clips(folder, RenderedClips("tiny"))
    assert before == {path: path.stat().st_mtime_ns for path in before}
    with pytest.raises(DataError, match="seed: 0, not 1"):
        write_clips(folder, RenderedClips("tiny", seed=1))


def test_a_rendering_that_was_interrupted_is_made_again(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    wanted = RenderedClips("tiny", clips=3)
    with monkeypatch.context() as patch:
        patch.setattr("reelscore_studies.rendered.dataset._write_list", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_clips(tmp_path, wanted, features=False)
    assert write_clips(tmp_path, wanted, features=False)["items"] == {
        "train": 18,
        "val": 6,
        "test": 6,
    }


def test_videos_on_request(folder):
    pytest.importorskip("av")
    from reelscore.video.frames import Sampling, read_frames
    from reelscore_studies.rendered import dataset

    scene = draw_scene(0, 8, 0)
    dataset._write_videos(folder / "videos", 0, [scene])
    frames = read_frames(str(folder / f"videos/{scene.item}.webm"), Sampling(4))
    assert [picture.shape for picture in frames.pictures] == [(144, 192, 3)] * 4


def test_only_the_named_factor_moves(monkeypatch, tmp_path):
    from reelscore_studies.rendered import dataset

    monkeypatch.setattr(dataset, "_write_features", lambda *_: None)
    base, noise, fewer = tmp_path / "base", tmp_path / "noise", tmp_path / "fewer"
    write_clips(base, RenderedClips("tiny"))
    write_clips(noise, RenderedClips("tiny", noise_labels=50))
    write_clips(fewer, RenderedClips("tiny", clips=10))
    assert (base / "train.json").read_bytes() == (noise / "train.json").read_bytes()
    usual, added = (lines(home / "tuples/train.jsonl") for home in (base, noise))
    assert [line for line in added if not line["verb"].startswith("noise")] == usual
    assert len({line["verb"] for line in added}) > 40
    some, every = read_candidates(fewer / "train.json"), read_candidates(base / "train.json")
    assert len(some) == 60
    assert all(every[item] == text for item, text in some.items())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"misaligned": 1.5}, "a share from 0 to 1"),
        ({"clips": 1}, "expected 2 to 1,000"),
        ({"noise_labels": -1}, "numbers from 0"),
    ],
)
def test_settings_are_checked(changes, message):
    with pytest.raises(DataError, match=message):
        RenderedClips("tiny", **changes)
