"""Narrators over films, measured: people who describe pictures, over Night of the Living Dead."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli
from reelscore.corpus.sound.audio import RATE
from reelscore.errors import DataError
from reelscore_studies.repro.narration import (
    audible,
    measure_narration,
    narration_grid,
    write_track,
)
from support.film_sound import film_sound, voice


@pytest.mark.shared
@pytest.mark.parametrize(
    ("decibels", "detector", "least"),
    [(0.0, "none", 0.95), (-9.0, "none", 0.93), (0.0, "silero", 0.95), (-9.0, "silero", 0.94)],
)
def test_real_voices_over_a_real_film(shared, decibels, detector, least):
    if detector == "silero" and not all(map(find_spec, ("onnxruntime", "silero_vad"))):
        pytest.skip("silero-vad is not installed")
    film = sorted((shared / "movie" / "notld_audio").glob("*60s*.flac"))
    found = measure_narration(shared / "movie", (detector,), films=film, decibels=(decibels,))
    assert all(each.match for each in found)
    assert np.mean([each.frame_f1 for each in found]) >= least


def test_own_films_and_voices(tmp_path):
    write_track(tmp_path / "film.flac", film_sound(30.0), "flac")
    (tmp_path / "anna").mkdir()
    sound = np.zeros(3 * RATE, np.float32)
    sound[RATE // 2 : 2 * RATE] = voice(1.5)
    for name in ("one", "two", "three"):
        write_track(tmp_path / "anna" / f"{name}.flac", 0.2 * sound, "flac")
    assert audible(sound) == [(pytest.approx(0.5, abs=0.05), pytest.approx(2.0, abs=0.05))]
    options = ["--film", str(tmp_path / "film.flac"), "--voices", str(tmp_path / "anna")]
    done = CliRunner().invoke(
        cli, ["repro", "narration", *options, "--detector", "none", "--json", str(tmp_path / "o")]
    )
    assert done.exit_code == 0, done.output
    tracks = json.loads((tmp_path / "o").read_text())["tracks"]
    assert [each["name"] for each in tracks] == ["film, anna, +0 dB", "film, anna, -9 dB"]
    assert min(each["frame_f1"] for each in tracks) > 0.9
    assert "+0 dB" in done.output
    assert max(map(len, done.output.splitlines())) <= 80


def test_nothing_to_measure_is_said():
    with pytest.raises(DataError, match="--data"):
        measure_narration(None)
    assert narration_grid([]).rows == []
