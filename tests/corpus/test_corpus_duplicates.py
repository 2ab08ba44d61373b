"""Films that are the same by their sound stay together, and each is decoded once."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from reelscore.corpus.pipeline import write_file
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import TimedSentence
from reelscore.corpus.release.duplicates import film_features, same_films
from reelscore.corpus.release.film_sets import FilmGroup, works
from support.film_sound import described, faster, film_sound, write_sound


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    """A film, its described version at another speed as MP3, and two other films."""
    folder = tmp_path_factory.mktemp("sounds")
    film = film_sound(40.0, seed=1)
    return {
        "a": write_sound(folder / "a.wav", film),
        "b": write_sound(folder / "b.mp3", faster(described(film))[8 * 16_000 :]),
        "c": write_sound(folder / "c.wav", film_sound(45.0, seed=2)),
        "d": write_sound(folder / "d.wav", film_sound(30.0, seed=3)),
    }


@pytest.fixture
def project(sounds, tmp_path):
    project = Project.new(tmp_path / "films")
    for film_id, path in sounds.items():
        project.add_film(Film(film_id, title=f"Film {film_id}", film=str(path)))
    project.add_film(Film("e", title="No sound"))
    return project


def test_the_same_film_under_another_title(project, monkeypatch):
    pairs, not_compared = same_films(project, ["a", "b", "c", "d", "e"])
    assert [pair.films for pair in pairs] == [("a", "b")]
    assert pairs[0].confidence > 0.3
    assert not_compared == ["e"]
    monkeypatch.setattr("reelscore.corpus.release.duplicates.read_samples", None)  # not again
    assert same_films(project, list("abcde")) == (pairs, ["e"])


def test_a_changed_file_is_decoded_again(project, sounds, tmp_path):
    path = write_sound(tmp_path / "d.wav", film_sound(25.0, seed=4))
    project.change_film("d", film=str(path))
    before = film_features(project, "d")
    write_sound(path, film_sound(40.0, seed=1)[: 25 * 16_000])
    assert not np.array_equal(film_features(project, "d"), before)
    assert len(list(project.cache("d").glob("features-*"))) == 1
    pairs, _ = same_films(project, ["a", "c", "d"])
    assert [pair.films for pair in pairs] == [("a", "d")]


def test_works_join_titles_and_sounds():
    films = [Film("a", "Up", 2009), Film("b", "up", 2009), Film("c"), Film("d"), Film("e")]
    clips = [(film.id, "ad") for film in films]
    groups = works(films, clips, [("c", "b"), ("d", "c")])
    assert sorted(map(sorted, (work.films for work in groups))) == [["a", "b", "c", "d"], ["e"]]
    assert FilmGroup(("e",), narrated=1) in groups


def test_split_puts_the_same_sound_into_one_set(run, project, monkeypatch):
    monkeypatch.chdir(project.folder.parent)
    for film_id in project.films:
        sentences = [
            asdict(TimedSentence(f"s{k}", "Someone nods.", k, k + 3, "ad")) for k in range(5)
        ]
        folder = project.place(film_id, "x").parent
        write_file(folder / "transcript.json", {"sentences": sentences})
    where = ["--project", "films"]
    assert run("corpus", "assemble", *where)[0] == 0
    options = [*where, "--ratios", "1 1 1 1"]
    status, _, err = run("corpus", "split", *options)
    assert status == 0
    assert "a and b are the same film by their sound" in err
    assert "not compared by sound, since there is no file: e" in err
    splits = json.loads((project.folder / "splits.json").read_text())
    assert splits["films"]["a"] == splits["films"]["b"]
    assert [pair["films"] for pair in splits["same_sound"]] == [["a", "b"]]
    status, _, err = run("corpus", "split", *options, "--by-title")
    assert (status, "by their sound" in err) == (0, False)
    (project.folder.parent / "broken.wav").write_bytes(b"no sound")
    project.change_film("e", film="broken.wav")
    run("corpus", "assemble", *where)
    status, _, err = run("corpus", "split", *options, "--again")
    assert status == 2
    assert "broken.wav" in err
    assert "--by-title" in err
    assert json.loads((project.folder / "splits.json").read_text())["same_sound"] == []
