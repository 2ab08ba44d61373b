"""Project folders: what is fresh, what is stale, what people decided, and what is refused."""

from __future__ import annotations

import json

import pytest

from reelscore.corpus.pipeline import ALIGN, SEGMENT
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import Decision, Remark, Segment
from reelscore.corpus.review.decisions import append_decision, read_decisions, replay
from reelscore.corpus.time_map import Piece
from reelscore.errors import DataError, UnknownNameError

NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "film.wav").write_bytes(b"film")
    (tmp_path / "ad.wav").write_bytes(b"ad")
    project = Project.new(tmp_path / "corpus", "Films")
    project.add_film(Film("one", film=str(tmp_path / "film.wav"), ad=str(tmp_path / "ad.wav")))
    return project


@pytest.fixture
def store(project, monkeypatch):
    """Do a step, which makes what a test says."""

    def store(step, **fields):
        result = step.result(**fields)
        monkeypatch.setitem(vars(step), "make", lambda work, **options: result)
        return project.run(step, "one", again=True)

    return store


def states(project):
    status = Project.open(project.folder).status()["one"]
    return {step: status[step] for step in ("align", "segment")}


def test_results_are_fresh_until_an_input_or_a_parameter_changes(project, store, tmp_path):
    assert states(project) == {"align": "open", "segment": "open"}
    store(ALIGN, map=())
    store(SEGMENT, segments=())
    assert states(project) == {"align": "done", "segment": "done"}
    assert project.fresh(ALIGN, "one").map == ()
    assert project.fresh(ALIGN, "one", rate=1.04) is None
    store(ALIGN, map=(Piece(0.0, 9.0, 0.0, 1.0),))  # made again, with another result
    assert states(project) == {"align": "done", "segment": "stale"}
    (tmp_path / "ad.wav").write_bytes(b"another")
    assert states(project) == {"align": "stale", "segment": "stale"}
    (tmp_path / "ad.wav").unlink()
    assert states(project)["align"] == "stale"


def test_steps_are_done_once(project, store):
    first = store(ALIGN, map=())
    vars(ALIGN)["make"] = lambda work, **options: pytest.fail("done again")
    assert project.run(ALIGN, "one") == first


def test_untrusted_results_have_failed(project, store):
    store(ALIGN, map=(), report=(Remark("no-match", "", trusted=False),))
    assert states(project)["align"] == "failed"


def test_unsure_segments_need_review_until_somebody_decides(project, store):
    store(ALIGN, map=())
    store(SEGMENT, segments=(Segment("n1", 4.0, 6.0, 4.0, 6.0, -20.0, 0.3),))
    assert states(project)["segment"] == "needs review"
    append_decision(project.place("one", "decisions.jsonl"), Decision(NOW, "ada", "n1", "accept"))
    assert states(project)["segment"] == "done"


def test_decisions_find_their_segments_again():
    times = {"start": 4.0, "end": 6.0}
    decisions = [
        Decision(NOW, "ada", "n1", "accept"),
        Decision(NOW, "ada", "old", "reject", before=times),
        Decision(NOW, "ada", "gone", "reject", before={"start": 50.0, "end": 52.0}),
        Decision(NOW, "ada", "unclear", "reject"),
    ]
    segments = [
        Segment("n1", 1.0, 2.0, 1.0, 2.0, -8.0, 0.9),
        Segment("n2", 4.4, 6.1, 4.4, 6.1, -8.0, 0.9),
    ]
    reviewed = replay(segments, [], decisions)
    assert [(each.id, each.state) for each in reviewed.segments] == [
        ("n1", "accepted"),
        ("n2", "rejected"),
    ]
    assert [decision.target for decision in reviewed.orphaned] == ["gone", "unclear"]


def test_a_decision_cut_off_by_a_crash_is_left_out(tmp_path):
    file = tmp_path / "decisions.jsonl"
    append_decision(file, Decision(NOW, "ada", "n1", "accept"))
    file.write_bytes(file.read_bytes() + b'{"at": "2026')
    assert [each.target for each in read_decisions(file)] == ["n1"]
    append_decision(file, Decision(NOW, "ada", "n2", "accept"))
    assert [each.target for each in read_decisions(file)] == ["n1", "n2"]
    file.write_text("nonsense\n{}\n")
    with pytest.raises(DataError, match=r"decisions.jsonl:1: not a decision"):
        read_decisions(file)


def test_places_inside_the_project_are_relative(tmp_path):
    project = Project.new(tmp_path / "corpus")
    inside = project.folder / "media.wav"
    inside.write_bytes(b"sound")
    project.add_film(Film("one", film=str(inside)))
    assert project.film("one").film == "media.wav"
    assert project.change_film("one", ad=str(inside)).ad == "media.wav"


def test_refusals_say_what_to_do(project, tmp_path):
    with pytest.raises(DataError, match="there is a project already"):
        Project.new(project.folder)
    with pytest.raises(DataError, match=r"corpus.json.*--project"):
        Project.open(tmp_path)
    with pytest.raises(DataError, match="cannot be a film's id"):
        project.add_film(Film("../escape"))
    with pytest.raises(DataError, match="already; choose another id"):
        project.add_film(Film("one"))
    with pytest.raises(DataError, match="no such file"):
        project.add_film(Film("two", film="nowhere.mkv"))
    with pytest.raises(UnknownNameError, match="Did you mean 'one'"):
        project.film("on")
    project.add_film(Film("two"))
    with pytest.raises(DataError, match="has no film file; name it with --film"):
        project.sounds("two")
    path = project.folder / "corpus.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "layout": 99}))
    with pytest.raises(DataError, match="layout 99 is not known"):
        Project.open(project.folder)
    path.write_text("{")
    with pytest.raises(DataError, match="malformed JSON"):
        Project.open(project.folder)
