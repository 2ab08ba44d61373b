"""A campaign in plain files: nothing is lost on the way, and nothing hostile gets in."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reelscore import DataError
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.imports.judgment_files import judgments_csv, read_judgments
from support.made_hits import Clock, rating_hits


def fill(where):
    """A campaign in which everything that can happen has happened."""
    clock = Clock(1_700_000_000.123456)
    campaign = Campaign.create(
        where,
        'Dogs, "and" cats\n—',
        systems=["mine", "other"],
        humans=["other"],
        raters_per_hit=2,
        hold=100.0,
        seed=4,
        settings={"text": "ü\u2028", "n": 1.5, "none": None},
        clock=clock,
    )
    odd = Task("t", "v,9", (Shown("mine", 'a "dog",\r\nran\r\u2028 \t'),), expected=12.5)
    campaign.add_hits([*rating_hits(3, 2), Hit("odd", (odd,))])
    campaign.set_state("open", actor="me", reason='he said: "go"')
    gone, done = campaign.claim("gone", client="Mozilla, 5"), campaign.claim("done")
    campaign.submit(gone.id, "gone", "t0-0", {"adequacy": [1 / 3]})
    clock.pass_(101.000001)
    for k, task in enumerate(done.tasks):
        times = {"started": clock.now - 3.3, "submitted": clock.now}
        campaign.submit(done.id, "done", task.id, {"adequacy": [k]}, **times)
    held = campaign.claim("held")
    campaign.open_task(held.id, "held", held.tasks[0].id)
    campaign.submit(held.id, "held", held.tasks[0].id, {"adequacy": [7]}, watched=1 / 3)
    campaign.open_task(held.id, "held", held.tasks[1].id)
    skipping = campaign.claim("skips")
    campaign.skip(skipping.id, "skips", skipping.tasks[1].id, 'no "picture",\n')
    campaign.decide("exclude", "gone", actor="me", reason="")
    return campaign


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The file of such a campaign, and its exports: to be copied, not changed."""
    folder = tmp_path_factory.mktemp("filled")
    with fill(folder / "filled.db") as campaign:
        campaign.export(folder / "all.jsonl")
        campaign.export(folder / "folder")
    return folder


@pytest.fixture(params=["all.jsonl", "folder"])
def exported(request, tmp_path, filled):
    copy = shutil.copytree if request.param == "folder" else shutil.copy
    return Path(copy(filled / request.param, tmp_path / request.param))


def content(path):
    if path.is_file():
        return {path.name: path.read_bytes()}
    return {file.name: file.read_bytes() for file in sorted(path.iterdir())}


FORMULAS = ['=HYPERLINK("https://evil.example")', "+1+1", "-2", "@x", "'=1", "-4wsuPCjDBc_5"]


def test_no_cell_begins_a_formula_and_each_comes_back(tmp_path):
    shown = [f"{text}\rb" if text == "@x" else text for text in FORMULAS]
    tasks = [
        Task(f"t{k}", name, (Shown(name, text),))
        for k, (name, text) in enumerate(zip(FORMULAS, shown, strict=True))
    ]
    with Campaign.create(tmp_path / "a.db", "a", systems=FORMULAS) as campaign:
        campaign.add_hits([Hit("h", tuple(tasks))])
        campaign.set_state("open", actor="=me", reason="@you")
        held = campaign.claim("=rater")
        for task in tasks:
            campaign.submit(held.id, "=rater", task.id, {"adequacy": [5]})
        judgments = judgments_csv(campaign.rows())
        campaign.export(tmp_path / "folder")
    tables = [file.read_bytes().decode() for file in (tmp_path / "folder").glob("*.csv")]
    for table in (*tables, judgments):
        for row in csv.reader(io.StringIO(table, newline="")):
            begin_formula = [cell for cell in row if cell[:1] in tuple("=+-@") and cell != "-2"]
            assert begin_formula == []
    with Campaign.restore(tmp_path / "b.db", tmp_path / "folder") as again:
        assert [task.shown[0].text for hit in again.hits() for task in hit.tasks] == shown
        assert {row.rater for row in again.rows()} == {"=rater"}
        assert ("=me", "@you") in [(event.actor, event.reason) for event in again.events()]
    (tmp_path / "judgments.csv").write_text(judgments)
    rows = read_judgments([tmp_path / "judgments.csv"]).judgments
    assert sorted(rows.system) == sorted(FORMULAS)
    assert set(rows.rater) == {"=rater"}


def test_exports_and_databases_are_for_their_owner(tmp_path):
    umask = os.umask(0o022)
    try:
        with fill(tmp_path / "a.db") as campaign:
            campaign.export(tmp_path / "all.jsonl")
            campaign.export(tmp_path / "folder")
            beside = [tmp_path / f"a.db{suffix}" for suffix in ("", "-wal", "-shm")]
            files = [*beside, tmp_path / "all.jsonl", *(tmp_path / "folder").iterdir()]
            assert {file.name: oct(file.stat().st_mode & 0o777) for file in files} == {
                file.name: "0o600" for file in files
            }
        assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700
        (tmp_path / "a.db").chmod(0o644)  # made by an earlier version
        Campaign.create(tmp_path / "a.db", "b", systems=["x"]).disconnect()
        assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(umask)


def test_export_restore_export_is_the_same(exported, filled, where, tmp_path):
    with Campaign.restore(where, exported, clock=Clock()) as campaign:
        again = tmp_path / f"again{exported.suffix}"
        campaign.export(again)
        assert list(content(again).values()) == list(content(exported).values())
        assert campaign.status().held == 2
        assert campaign.excluded() == {"gone"}
    with Campaign.open(filled / "filled.db") as first, Campaign.open(where) as second:
        assert first == second
        assert list(first.hits()) == list(second.hits())
        assert list(first.rows()) == list(second.rows())
        assert first.events() == second.events()
        assert (first.settings, first.systems) == (second.settings, second.systems)
        assert first.humans == second.humans == ("other",)
        skips = [[replace(each, assignment=0) for each in of.skips()] for of in (first, second)]
        assert skips[0] == skips[1]
        assert len(skips[0]) == 1


def test_a_restored_campaign_goes_on(exported, where):
    with Campaign.restore(where, exported, clock=Clock(1_700_000_102.0)) as campaign:
        held = campaign.claim("held")
        for task in held.remaining:
            receipt = campaign.submit(held.id, "held", task.id, {"adequacy": [9]})
        assert receipt.done
        assert campaign.claim("new").hit == "odd"


def test_times_are_iso_8601_with_microseconds(tmp_path):
    with fill(tmp_path / "filled.db") as campaign:
        campaign.export(tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().split("\n") if line]
    assert lines[0]["created"] == "2023-11-14T22:13:20.123456Z"
    judged = [line for line in lines if line["type"] == "judgment"]
    assert [line["submitted"] for line in judged] == [
        None,
        *["2023-11-14T22:15:01.123457Z"] * 2,
        None,
    ]
    assert judged[0]["score"] == 1 / 3


def test_a_compressed_export_is_read(exported, tmp_path):
    if exported.is_dir():
        pytest.skip("a folder is not compressed")
    packed = tmp_path / "all.jsonl.gz"
    packed.write_bytes(gzip.compress(exported.read_bytes()))
    with Campaign.restore(tmp_path / "b.db", packed) as campaign:
        assert campaign.status().judgments == 4


def test_restoring_beside_another_needs_another_id(exported, where):
    Campaign.restore(where, exported).disconnect()
    with pytest.raises(DataError, match="already a campaign 'dogs-and-cats'"):
        Campaign.restore(where, exported)
    with Campaign.restore(where, exported, id="second") as campaign:
        assert (campaign.id, campaign.status().judgments) == ("second", 4)
    assert len(Campaign.list(where)) == 2


def test_where_an_export_can_go(tmp_path):
    with fill(tmp_path / "filled.db") as campaign:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "mine.txt").touch()
        with pytest.raises(DataError, match="not empty; name a new folder"):
            campaign.export(tmp_path / "full")
        with pytest.raises(DataError, match=r"one \.jsonl file or to a folder"):
            campaign.export(tmp_path / "all.csv")
        with pytest.raises(DataError, match="no folder"):
            campaign.export(tmp_path / "nowhere" / "all.jsonl")
        with pytest.raises(DataError, match="cannot be written"):
            campaign.export(tmp_path / "nowhere" / "all")
        (tmp_path / "empty").mkdir()
        campaign.export(tmp_path / "empty")
    assert len(list((tmp_path / "empty").iterdir())) == 9
    assert not list(tmp_path.glob(".*"))


# Files that are not what they should be

CSV_FILES = {
    "hit": "hits.csv",
    "task": "tasks.csv",
    "shown": "shown.csv",
    "assignment": "assignments.csv",
    "judgment": "judgments.csv",
    "skip": "skips.csv",
    "event": "events.csv",
}


def spoil(path, kind, change):
    """Change the first line of a type, in either form."""
    if path.is_file():
        lines = path.read_bytes().split(b"\n")
        beginning = f'{{"type":"{kind}"'.encode()
        place = next(k for k, line in enumerate(lines) if line.startswith(beginning))
        lines[place] = json.dumps(json.loads(lines[place]) | change).encode()
        path.write_bytes(b"\n".join(lines))
        return
    with (path / CSV_FILES[kind]).open(newline="") as file:
        header, first, *rest = list(csv.reader(file))
    values = dict(zip(header, first, strict=True)) | change
    with (path / CSV_FILES[kind]).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, list(values.values()), *rest])


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("judgment", {"score": 101}, "the score is 101; expected a number from 0 to 100"),
        ("judgment", {"score": -1}, "the score is -1"),
        ("judgment", {"score": "much"}, "Expected `float`"),
        ("judgment", {"task": "t9"}, "no such task in the HIT"),
        ("judgment", {"hit": "h9"}, "no such HIT"),
        ("judgment", {"rater": "nobody"}, "no such assignment of the HIT"),
        ("judgment", {"rater": ""}, "the rater has no name"),
        ("judgment", {"slot": 1}, "the slot is 1; direct-assessment judges the first"),
        ("judgment", {"criterion": "beauty"}, "direct-assessment asks for adequacy"),
        ("judgment", {"submitted": "yesterday"}, "the time is 'yesterday'"),
        ("judgment", {"submitted": "2023-11-14T22:13:20"}, "expected one such as"),
        ("judgment", {"received": ""}, "the time is ''"),
        ("judgment", {"position": -1}, "the position is -1"),
        ("judgment", {"position": 99999999999}, "the position is 99999999999"),
        ("shown", {"task": "t9"}, "no such task in the HIT"),
        ("shown", {"kind": "spoilt"}, "Invalid enum value 'spoilt'"),
        ("shown", {"slot": 1}, "no such caption in the task"),
        ("shown", {"text": "a\0b"}, "NUL"),
        ("shown", {"text": "x" * 100_001}, "100,001 characters"),
        ("task", {"hit": "h9"}, "no such HIT"),
        ("task", {"item": ""}, "the item has no name"),
        ("hit", {"id": "h1"}, "the same HIT as"),
        ("assignment", {"state": "lost"}, "Invalid enum value 'lost'"),
        ("assignment", {"state": "open"}, "has a rater unless it is open"),
        ("assignment", {"state": "done"}, "the place is taken in"),
        ("assignment", {"rater": "done"}, "no such assignment of the HIT"),
        ("assignment", {"turn": 1}, "the same assignment as"),
        ("assignment", {"task": "t9"}, "no such task in the HIT"),
        ("assignment", {"opened": "early"}, "the time is 'early'"),
        ("judgment", {"watched": "all"}, "Expected `float"),
        ("skip", {"task": "t9"}, "no such task in the HIT"),
        ("skip", {"rater": "nobody"}, "no such assignment of the HIT"),
        ("skip", {"time": ""}, "the time is ''"),
        ("event", {"actor": ""}, "the actor has no name"),
        ("event", {"time": "now"}, "the time is 'now'"),
    ],
)
def test_a_spoilt_line_is_named_and_nothing_is_made(exported, filled, tmp_path, kind, change, said):
    spoil(exported, kind, change)
    refuses(tmp_path / "new.db", exported, said)
    # nor in a database that is there
    shutil.copy(filled / "filled.db", tmp_path / "there.db")
    with Campaign.open(tmp_path / "there.db") as there:
        refuses(tmp_path / "there.db", exported, said, id="new")
        there.export(tmp_path / "after.jsonl")
    assert (tmp_path / "after.jsonl").read_bytes() == (filled / "all.jsonl").read_bytes()


def refuses(where, exported, said, id=None):
    with pytest.raises(DataError) as refused:
        Campaign.restore(where, exported, id=id)
    message = str(refused.value)
    assert said in message
    assert exported.name in message
    assert message.count("\n") <= 5  # one error, however many lines are wrong
    if id is None:
        assert not list(where.parent.glob(f"*{where.name}*"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "reelscore campaign 9"}, "A newer version"),
        ({"protocol": "guessing"}, "Unknown protocol 'guessing'"),
        ({"raters_per_hit": 0}, "0 raters"),
        ({"state": "lost"}, "Invalid enum value"),
        ({"systems": [1]}, "Expected `str`, got `int`"),
        ({"humans": ["nobody"]}, "'nobody' is named as human, but is not a system"),
        ({"more": 1}, "unknown field `more`"),
        ({"created": "2023-11-14"}, "the time is '2023-11-14'"),
    ],
)
def test_a_spoilt_campaign_is_named(exported, tmp_path, change, said):
    file = exported if exported.is_file() else exported / "campaign.json"
    first, end, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps(json.loads(first) | change).encode() + end + rest)
    refuses(tmp_path / "new.db", exported, said)


def test_doubled_lines_are_named(exported, tmp_path):
    if exported.is_file():
        lines = exported.read_bytes().splitlines(keepends=True)
        judged = [line for line in lines if line.startswith(b'{"type":"judgment"')]
        place = lines.index(judged[-1])
        exported.write_bytes(b"".join([*lines[: place + 1], *judged, *lines[place + 1 :]]))
    else:
        file = exported / "judgments.csv"
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join([*lines, *lines[1:]]))
    with pytest.raises(DataError, match="4 records cannot be used") as refused:
        Campaign.restore(tmp_path / "new.db", exported)
    assert str(refused.value).count("the same judgment as") == 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n", "truncated"),
        (b"not json\n", "malformed"),
        (b"[1, 2]\n", "Expected `object`, got `array`"),
        (b'{"type":"hit","id":"h1"}\n', "does not begin with a campaign"),
        (b'{"type":"hat","id":"h1"}\n', "Invalid value 'hat'"),
        (b'{"id":"h1"}\n', "missing required field `type`"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b'{"type":"\xff"}\n', "utf-8"),
        (b"[" * 100_000, "x.jsonl:1"),
    ],
)
def test_files_of_other_kinds(tmp_path, content, said):
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(DataError) as refused:
        Campaign.restore(tmp_path / "new.db", tmp_path / "x.jsonl")
    assert said in str(refused.value)
    assert not (tmp_path / "new.db").exists()


def test_lines_out_of_order_and_missing_files(exported, tmp_path):
    if exported.is_file():
        lines = exported.read_bytes().splitlines(keepends=True)
        exported.write_bytes(b"".join([lines[0], *reversed(lines[1:])]))
        refuses(tmp_path / "new.db", exported, "out of order")
        exported.write_bytes(b"".join([*lines, lines[0]]))
        refuses(tmp_path / "new.db", exported, "'campaign' out of order")
    else:
        (exported / "shown.csv").unlink()
        with pytest.raises(DataError, match=r"shown\.csv: no such file"):
            Campaign.restore(tmp_path / "new.db", exported)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b"id,more\nh1,2\n", "columns are id, more; expected id"),
        (b"name\nh1\n", "columns are name; expected id"),
        (b"h1\n", "columns are h1"),
        (b"id\nh1,h2\n", "the row has 2 cells, the header 1"),
        (b'id\n"h1\n', "malformed CSV"),
        (b'id\n"h1"x\n', "malformed CSV"),
        (b"id\n" + b'"' + b"x\n" * 100_000, "malformed CSV"),
    ],
)
def test_csv_with_other_columns(tmp_path, rows, said):
    with fill(tmp_path / "filled.db") as campaign:
        campaign.export(tmp_path / "folder")
    (tmp_path / "folder" / "hits.csv").write_bytes(rows)
    with pytest.raises(DataError) as refused:
        Campaign.restore(tmp_path / "new.db", tmp_path / "folder")
    assert said in str(refused.value)
    assert not (tmp_path / "new.db").exists()


ONE_GIGABYTE = 1 << 30


@pytest.mark.parametrize("form", ["jsonl", "csv", "campaign.json", "gzip"])
def test_a_line_of_a_gigabyte_is_refused_without_being_read(tmp_path, form):
    with fill(tmp_path / "filled.db") as campaign:
        campaign.export(tmp_path / "all.jsonl")
        campaign.export(tmp_path / "folder")
    source = tmp_path / "all.jsonl" if form in ("jsonl", "gzip") else tmp_path / "folder"
    if form == "gzip":
        packed = tmp_path / "bomb.jsonl.gz"
        first = source.read_bytes().partition(b"\n")[0]
        with gzip.open(packed, "wb", compresslevel=1) as file:
            file.write(first + b'\n{"type":"hit","id":"')
            for _ in range(16):
                file.write(b"x" * (1 << 24))
        source = packed
    else:
        long = {"jsonl": source, "csv": source / "hits.csv"}.get(form, source / "campaign.json")
        with long.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.truncate(file.tell() + ONE_GIGABYTE)  # zeros, which take no room on the disk
    script = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from reelscore import DataError\n"
        "from reelscore.campaigns.campaign import Campaign\n"
        "try: Campaign.restore(sys.argv[1], sys.argv[2])\n"
        "except DataError as error: print(error)\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "new.db"), str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    *message, peak = said.splitlines()
    assert len(message) == 1
    assert "bytes; is this the right file?" in message[0]
    assert int(peak) < 200_000  # kilobytes
    assert not (tmp_path / "new.db").exists()


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    from reelscore.campaigns.store import files

    def broken(kind, row):
        raise RuntimeError("the disk is on fire")

    with fill(tmp_path / "filled.db") as campaign:
        monkeypatch.setattr(files, "to_line", broken)
        for name in ("all.jsonl", "folder"):
            with pytest.raises(RuntimeError):
                campaign.export(tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"filled.db"}
