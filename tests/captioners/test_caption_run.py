"""Captions of any captioner: requests, journal and resume, clips that fail, what is written."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from reelscore.captioners import CaptionSettings, run
from reelscore.captioners.adapters import adapter_of
from reelscore.captioners.adapters.adapter import ClipError, ShownClip, cleaned
from reelscore.captioners.adapters.clip_work import Budget
from reelscore.data import read_candidates
from reelscore.errors import DataError, EndpointError, UnknownNameError
from reelscore.video import Clip, Frames
from support.footage import film
from support.model_server import model_server

KEY = "sk-very-secret-0123"
FEW = CaptionSettings(frames=2, side=32)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    film(folder / "clip00.mp4", "libx264", "mp4")
    for number in range(1, 6):
        shutil.copy(folder / "clip00.mp4", folder / f"clip{number:02}.mp4")
    return folder


def text_of(request):
    return request["messages"][-1]["content"][-1]["text"]


@pytest.fixture
def server():
    with model_server(lambda request: '"A man runs."\n\nAnything else?') as server:
        yield server


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("REELSCORE_API_KEY", raising=False)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("reelscore.endpoint.http._LONGEST_PAUSE", 0.0)


def described(server, videos, output, settings=FEW, **fields):
    return run(f"openai:vlm@{server.url}", videos, output, settings, **{"timeout": 5.0, **fields})


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# The happy path


def test_captions_of_a_server(server, videos, tmp_path):
    made = described(server, videos, tmp_path / "out.json")
    assert read_candidates(tmp_path / "out.json") == dict.fromkeys(
        [f"clip{k:02}" for k in range(6)], "A man runs."
    )
    content = server.requests[0]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert server.requests[0]["max_tokens"] == 64
    [line, *_] = lines_of(tmp_path / "out.journal.jsonl")
    assert line["content"] == '"A man runs."\n\nAnything else?'  # the raw answer
    assert line["caption"] == "A man runs."
    assert (line["frames"], line["times"]) == ([1, 4], [0.083, 0.333])
    assert line["tokens_out"] == 6
    record = json.loads((tmp_path / "out.run.json").read_text())
    assert record == made.record
    assert record["adapter"] == "openai"
    assert record["model"] == "vlm"
    assert record["endpoint"] == server.url
    assert record["server"] == {"model": "stand-in-2026-01", "fingerprint": "fp_1"}
    assert record["prompt"]["name"] == "plain"
    assert record["prompt"]["text"].startswith("The pictures are frames")
    assert record["sampling"] == {"temperature": 0, "seed": 12345, "max_tokens": 64}
    assert record["frames"] == {"count": 2, "side": 32, "quality": 90, "rule": "midpoints"}
    counts = ["items", "reused", "retried", "cut_short", "empty", "tokens_out"]
    assert [record[name] for name in counts] == [6, 0, 0, 0, [], 36]
    assert record["signature"].startswith("caption_run|prompt:plain|frames:2|side:32|")


def test_the_command_and_its_summary(server, videos, tmp_path, invoke_run):
    server.faults = [{"finish": "length"}, (503, {}, {"Retry-After": "0"})]
    out = invoke_run(server, videos, tmp_path / "out.json", "--json", "-")
    assert json.loads(out.stdout)["cut_short"] == 1
    out = invoke_run(server, videos, tmp_path / "out.json")
    first, *rest = out.stdout.partition("Wrote 6 captions to ")
    assert first == (
        "In the journal already: 6 captions.\n"
        "Cut short by --prompt max_tokens: 1 caption.\nSent again: 1 request.\n"
    )
    assert "out.run.json" in rest[1]


@pytest.fixture
def invoke_run():
    from click.testing import CliRunner

    from reelscore.cli.main import cli

    def invoke(server, videos, output, *options):
        words = ["caption", "run", "--model", f"openai:vlm@{server.url}", "--videos", str(videos)]
        words += ["-o", str(output), "--prompt", "frames:1|side:16", *options]
        return CliRunner().invoke(cli, words, catch_exceptions=False)

    return invoke


@pytest.mark.parametrize(
    ("answer", "caption"),
    [
        ("  a man runs \n", "a man runs"),
        ("a man\nruns\n \nmore", "a man\nruns"),
        ("“a man runs”", "a man runs"),
        ("'a man runs'", "a man runs"),
        ("'tis a man's'", "'tis a man's'"),
        ('""', ""),
        ('"', '"'),
        ("Caption: a man", "Caption: a man"),  # nothing else is cleaned up
    ],
)
def test_answers_are_cleaned_up(answer, caption):
    assert cleaned(answer) == caption


# Servers that fail


@pytest.mark.parametrize(
    "faults",
    [
        [(429, {}, {"Retry-After": "0"})],
        [(500, {}, {}), (500, {}, {})],
        ["cut"],
        ["drop"],
        ["garbage"],
    ],
    ids=["429", "500 twice", "hang-up in mid-answer", "dropped", "invalid JSON"],
)
def test_what_is_tried_again(server, videos, tmp_path, faults):
    server.faults = list(faults)
    made = described(server, videos, tmp_path / "out.json")
    assert made.record["retried"] == len(faults)
    assert len(made.captions) == 6


def test_a_slow_drip_past_the_timeout(server, videos, tmp_path):
    server.faults = ["drip"]
    made = described(server, videos, tmp_path / "out.json", timeout=0.5)
    assert made.record["retried"] >= 1  # others as well where the machine is busy


def test_a_refused_key_stops_the_run(server, videos, tmp_path):
    server.faults = [None, (401, {"error": {"message": "who\x1b[2J are you"}}, {})]
    with pytest.raises(EndpointError) as caught:
        described(server, videos, tmp_path / "out.json", parallel=1)
    assert str(caught.value) == (
        f"{server.url}: 401 from the server: who\\x1b[2J are you. Set REELSCORE_API_KEY or "
        "--key-file to a valid key."
    )
    assert len(lines_of(tmp_path / "out.journal.jsonl")) == 1
    assert not (tmp_path / "out.json").exists()
    described(server, videos, tmp_path / "out.json")
    assert len(server.requests) == 6


def test_a_run_that_fails_at_once_leaves_nothing(server, videos, tmp_path):
    server.faults = [(401, {}, {})] * 4
    for restart in (False, True):
        with pytest.raises(EndpointError):
            described(server, videos, tmp_path / "out.json", parallel=1, restart=restart)
    spec = "command:/no/such/program {video}"
    with pytest.raises(DataError, match="cannot be started"):
        run(spec, videos, tmp_path / "out.json", FEW)
    assert not list(tmp_path.iterdir())


def test_redirects_are_not_followed(server, videos, tmp_path):
    with model_server() as other:
        server.faults = [(307, {}, {"Location": f"{other.url}/chat/completions?key=1"})]
        with pytest.raises(EndpointError, match="307 from the server"):
            described(server, videos, tmp_path / "out.json", parallel=1)
        assert other.keys == []


def test_the_key_is_written_nowhere(server, videos, tmp_path, monkeypatch):
    key_file = tmp_path / "keys" / "key.txt"
    key_file.parent.mkdir()
    key_file.write_text(f"{KEY}\n")
    server.answer = lambda request: f"your key is {KEY}"
    server.model = server.fingerprint = server.finish = f"for Bearer {KEY}"
    server.faults = [(500, {"error": {"message": f"bad {KEY}"}}, {})]
    words = [sys.executable, "-m", "reelscore", "caption", "run", "--videos", str(videos)]
    words += ["--model", f"openai:vlm@{server.url}", "--prompt", "frames:1|side:16"]
    out = tmp_path / "out.json"
    done = subprocess.run(
        [*words, "-o", str(out), "--key-file", str(key_file)], capture_output=True, check=True
    )
    assert set(server.keys) == {f"Bearer {KEY}"}
    server.faults = [(403, {"error": {"message": f"bad {KEY}"}}, {})] * 8
    environment = {**os.environ, "REELSCORE_API_KEY": KEY}
    failed = subprocess.run(
        [*words, "-o", str(tmp_path / "b.json")], capture_output=True, env=environment
    )
    assert failed.returncode == 2
    assert b"bad [key]" in failed.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    record = json.loads(out.with_name("out.run.json").read_text())
    assert record["server"] == dict.fromkeys(["model", "fingerprint"], "for Bearer [key]")
    [line, *_] = lines_of(tmp_path / "out.journal.jsonl")
    assert (line["content"], line["finish"]) == ("your key is [key]", "for Bearer [key]")
    for text in (written, done.stdout, done.stderr, failed.stdout, failed.stderr):
        assert KEY.encode() not in text
        assert b"Authorization" not in text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("vlm", "'vlm' names no captioner; expected openai:NAME@URL"),
        ("openai:vlm", "names no captioner"),
        ("openai:vlm@http://me:secret@host/v1?key=secret", "holds a user, a password or a query"),
        ("openai:@http://me:secret@host/v1", "names no captioner"),
        ("hf:/no/such/folder", "there is no such folder. Models are never downloaded"),
        ("command:", "The command is empty"),
        ("command:echo hello", "is told nothing of the clip"),
        ("command:'echo {video}", "cannot be read"),
        ("command:/no/such/program {video}", "cannot be started"),
    ],
)
def test_captioners_that_cannot_be_used(videos, tmp_path, spec, message):
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        run(spec, videos, tmp_path / "out.json", FEW)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "out.json").exists()


# Answers that are no captions, and clips that cannot be seen


def test_empty_and_refused_answers(server, videos, tmp_path):
    server.faults = [{"content": " \n"}, {"content": None, "refusal": "I will not"}]
    out = tmp_path / "out.json"
    with pytest.raises(DataError) as caught:
        described(server, videos, out, parallel=1)
    assert str(caught.value) == (
        "2 of 6 clips have no caption:\n"
        "  'clip00': the answer is empty\n"
        "  'clip01': the model refuses\n"
        f"All others are in {tmp_path / 'out.journal.jsonl'}: run it again to try those that "
        'failed, or keep empty captions with empty="keep", or leave them out with partial=True.'
    )
    assert not out.exists()
    made = described(server, videos, out, empty="keep")
    assert [made.captions["clip00"], made.captions["clip01"]] == ["", ""]
    assert made.record["empty"] == ["clip00", "clip01"]
    assert len(server.requests) == 6  # nothing was asked twice
    server.faults = [{"content": ""}, {"content": ""}]
    made = described(server, videos, out, partial=True)
    assert list(made.captions) == ["clip02", "clip03", "clip04", "clip05"]
    assert made.notes[0] == "Warning: 2 of 6 clips have no caption. Left out:"
    assert made.notes[-1] == "Run it again to try those that failed."
    assert len(server.requests) == 8  # these two were asked for again, as they will be now
    made = described(server, videos, out)
    assert made.captions == {f"clip{k:02}": "A man runs." for k in range(6)}
    assert (made.record["reused"], made.record["empty"]) == (4, [])
    items = [line["about"]["item"] for line in lines_of(tmp_path / "out.journal.jsonl")]
    assert (len(items), items.count("clip00"), items.count("clip01")) == (10, 3, 3)
    assert described(server, videos, out).record["reused"] == 6


def test_a_clip_that_cannot_be_decoded_does_not_end_the_run(server, videos, tmp_path):
    folder = tmp_path / "some"
    shutil.copytree(videos, folder)
    (folder / "clip03.mp4").write_bytes(b"this is no video")
    out = tmp_path / "out.json"
    with pytest.raises(DataError, match=r"1 of 6 clips.*\n  'clip03': .*cannot be decoded"):
        described(server, folder, out)
    assert len(server.requests) == 5
    shutil.copy(videos / "clip00.mp4", folder / "clip03.mp4")
    described(server, folder, out)
    assert len(server.requests) == 6


# Which clips


def test_parts_of_films_and_the_previous_caption(server, videos, tmp_path):
    listed = tmp_path / "clips.txt"
    film_ = videos / "clip00.mp4"
    shutil.copy(film_, tmp_path / "film.mp4")
    listed.write_text("one\tfilm.mp4#0,0.25\n\ntwo\tfilm.mp4#0.25,0.5\nclip.mp4\n")
    shutil.copy(film_, tmp_path / "clip.mp4")
    server.answer = lambda request: text_of(request).splitlines()[1][-8:] + "!"
    settings = CaptionSettings("audio-description", frames=1, side=16)
    made = described(server, listed, tmp_path / "out.json", settings)
    assert made.captions == {"one": ": (none)!", "two": "(none)!!", "clip": ": (none)!"}
    assert any("one clip of 0.2 seconds" in text_of(each) for each in server.requests)
    assert server.requests[0]["messages"][0]["role"] == "system"
    # resumed in the middle of a film, the next clip still sees the caption before it
    journal = tmp_path / "out.journal.jsonl"
    kept = [line for line in journal.read_text().splitlines() if '"item":"two"' not in line]
    journal.write_text("\n".join(kept) + "\n")
    assert described(server, listed, tmp_path / "out.json", settings).captions == made.captions


def test_a_prompt_with_previous_needs_parts_of_films(server, videos, tmp_path):
    with pytest.raises(DataError, match="no video has several clips"):
        described(server, videos, tmp_path / "out.json", CaptionSettings("audio-description"))


def test_prompts(server, videos, tmp_path):
    with pytest.raises(UnknownNameError, match=r"Unknown prompt 'plane'. Did you mean 'plain'"):
        described(server, videos, tmp_path / "out.json", CaptionSettings("plane"))
    (tmp_path / "mine.txt").write_text("Describe {video}.")
    with pytest.raises(DataError, match=r"unknown field \{video\}"):
        described(
            server, videos, tmp_path / "out.json", CaptionSettings(str(tmp_path / "mine.txt"))
        )


def test_a_whole_video_as_one_part(server, videos, tmp_path):
    settings = CaptionSettings(sent="video")
    server.check = lambda request, content_type: ""
    made = described(server, videos, tmp_path / "out.json", settings)
    assert (made.record["as"], made.record["frames"]) == ("video", None)
    [part, _] = server.requests[0]["messages"][-1]["content"]
    assert part["type"] == "video_url"
    assert part["video_url"]["url"].startswith("data:video/mp4;base64,")
    listed = tmp_path / "clips.txt"
    listed.write_text(f"one\t{videos / 'clip00.mp4'}#0,0.2\n")
    with pytest.raises(DataError, match="sends whole files"):
        described(server, listed, tmp_path / "b.json", settings)


# The journal


def test_a_second_run_asks_nothing(server, videos, tmp_path):
    first = described(server, videos, tmp_path / "out.json")
    second = described(server, videos, tmp_path / "out.json")
    assert first.captions == second.captions
    assert (second.record["reused"], second.record["tokens_out"]) == (6, 36)
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (CaptionSettings(frames=3, side=32), "other frames ('2 × 32 pixels, quality 90"),
        (CaptionSettings(frames=2, side=32, seed=2), "other sampling ('temperature 0, seed 12345"),
    ],
)
def test_another_way_to_ask_is_named(server, videos, tmp_path, settings, message):
    described(server, videos, tmp_path / "out.json")
    with pytest.raises(DataError, match=re.escape(message)):
        described(server, videos, tmp_path / "out.json", settings)


def test_another_prompt_model_or_video_is_named(server, videos, tmp_path):
    folder, mine, out = tmp_path / "some", tmp_path / "mine.txt", tmp_path / "out.json"
    shutil.copytree(videos, folder)
    mine.write_text("Describe it.")
    described(server, folder, out)
    settings = CaptionSettings(str(mine), frames=2, side=32)
    with pytest.raises(DataError, match=r"begun with another prompt \(sha \w{8}…, now \w{8}…\)"):
        described(server, folder, out, settings)
    with pytest.raises(DataError, match=r"another model \('openai:vlm', now 'openai:other'\)"):
        run(f"openai:other@{server.url}", folder, out, FEW)
    film(folder / "clip02.mp4", "mpeg4", "mp4")
    with pytest.raises(DataError, match="another video of item 'clip02'"):
        described(server, folder, out)
    described(server, folder, out, settings, restart=True)
    assert len(server.requests) == 12
    assert len(lines_of(tmp_path / "out.journal.jsonl.old")) == 6


def test_a_torn_last_line_is_dropped_and_said(server, videos, tmp_path):
    described(server, videos, tmp_path / "out.json")
    journal = tmp_path / "out.journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-9])
    made = described(server, videos, tmp_path / "out.json")
    assert made.notes == [f"{journal}: the last line was cut off, and was dropped."]
    assert len(server.requests) == 7


def test_a_server_that_changes_its_model(server, videos, tmp_path):
    def answer(request):
        server.model = "newer" if len(server.requests) > 3 else "older"
        return "a man"

    server.answer = answer
    made = described(server, videos, tmp_path / "out.json", parallel=1)
    assert made.notes == [
        "Warning: the server answered as several models: older (fp_1), newer (fp_1)."
    ]
    assert [each["model"] for each in made.record["servers"]] == ["older", "newer"]


@contextmanager
def started(server, videos, out, answers):
    """Start a run, and wait for some answers; others come when the event is set."""
    go_on = threading.Event()
    number = itertools.count(1)

    def answer(request):
        if next(number) > answers:
            go_on.wait(60)
        return "a man runs"

    server.answer = answer
    words = [sys.executable, "-m", "reelscore", "caption", "run", "--videos", str(videos)]
    words += ["--model", f"openai:vlm@{server.url}", "--prompt", "frames:1|side:16"]
    words += ["-o", str(out), "--limits", "parallel:2|grace:60"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while len(server.requests) < answers + 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        yield process, go_on
    go_on.set()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_run_goes_on(server, videos, tmp_path, invoke_run):
    out = tmp_path / "out.json"
    with started(server, videos, out, 3) as (process, _):
        with pytest.raises(DataError, match="another run is writing to this journal"):
            described(server, videos, out)
        os.kill(process.pid, signal.SIGKILL)
    assert len(lines_of(tmp_path / "out.journal.jsonl")) == 3
    assert not out.exists()
    assert len(server.requests) == 5
    assert invoke_run(server, videos, out).exit_code == 0
    assert len(server.requests) == 5 + 3  # what was journalled is not asked again
    assert len(read_candidates(out)) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT")
def test_ctrl_c_finishes_what_is_in_flight(server, videos, tmp_path, invoke_run):
    out = tmp_path / "out.json"
    with started(server, videos, out, 1) as (process, go_on):
        process.send_signal(signal.SIGINT)
        while "Waiting for what is in flight" not in process.stderr.readline():
            assert process.poll() is None
        go_on.set()
        assert process.wait(60) == 130
        assert "Interrupted; the answers so far are in" in process.stderr.read()
    assert not out.exists()
    assert len(server.requests) == len(lines_of(tmp_path / "out.journal.jsonl")) == 3
    assert invoke_run(server, videos, out).exit_code == 0
    assert len(server.requests) == 6


def test_an_interrupted_run_can_write_what_it_has(server, videos, tmp_path):
    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    choices = {"parallel": 1, "progress": interrupt}
    with pytest.raises(KeyboardInterrupt):
        described(server, videos, tmp_path / "a.json", **choices)
    assert not (tmp_path / "a.json").exists()
    made = described(server, videos, tmp_path / "b.json", partial=True, **choices)
    assert made.interrupted
    assert 2 <= len(made.captions) < 6
    assert read_candidates(tmp_path / "b.json") == made.captions
    assert "'clip05': the run was interrupted before it" in made.notes
    assert made.record["reused"] == 0


def test_what_a_server_needs_loads_no_torch():
    needed = ["adapters.caption_run", "adapters.openai", "adapters.command"]
    script = "".join(f"import reelscore.captioners.{name}; " for name in needed)
    script += "import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    heavy = {"torch", "transformers", "sklearn", "nltk", "httpx"}
    assert heavy & set(loaded.stdout.decode().split()) == set()


# Programs

PROGRAM = """
import sys
from pathlib import Path
frames, video = sys.argv[1:]
names = sorted(path.name for path in Path(frames).iterdir())
if "clip02" in video and "--fail" in Path(sys.argv[0]).read_text()[-10:]:
    sys.exit("out of memory")
print(f"{Path(video).stem}: {' '.join(names)}")
"""


def command_of(tmp_path, script, arguments="{frames} {video}"):
    program = tmp_path / "describe it.py"
    program.write_text(script)
    return f"command:{sys.executable} '{program}' {arguments}"


def test_a_program(videos, tmp_path):
    made = run(command_of(tmp_path, PROGRAM), videos, tmp_path / "out.json", FEW, parallel=2)
    assert made.captions["clip03"] == "clip03: 001.jpg 002.jpg"
    assert made.record["adapter"] == "command"
    assert made.record["prompt"] is None
    shown = "caption_run|frames:2|side:32|quality:90|seed:12345|model:command:"
    assert made.record["signature"].startswith(shown)  # what the program is not told, is not there
    again = run(command_of(tmp_path, "raise"), videos, tmp_path / "out.json", FEW)
    assert again.captions == made.captions


def test_a_program_that_fails_on_a_clip(videos, tmp_path):
    with pytest.raises(DataError, match=r"'clip02': .*ended with status 1: out of memory"):
        run(command_of(tmp_path, f"{PROGRAM}#--fail"), videos, tmp_path / "out.json", FEW)


def test_a_program_that_takes_too_long(videos, tmp_path):
    spec = command_of(tmp_path, "import time; time.sleep(60)", "{video}")
    listed = tmp_path / "one.txt"
    listed.write_text(str(videos / "clip00.mp4"))
    with pytest.raises(DataError, match=r"no caption within 0.3 seconds"):
        run(spec, listed, tmp_path / "out.json", FEW, timeout=0.3)


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-3", "1e300"])
@pytest.mark.parametrize("model", ["command:echo {video}", "openai:vlm@http://127.0.0.1:9/v1"])
def test_timeouts_that_are_none(videos, tmp_path, model, seconds):
    from click.testing import CliRunner

    from reelscore.cli.main import cli

    out = tmp_path / "out.json"
    words = ["caption", "run", "--model", model, "--videos", str(videos), "-o", str(out)]
    done = CliRunner().invoke(cli, [*words, "--limits", f"timeout:{seconds}"])
    if seconds != "1e300":
        assert isinstance(done.exception, DataError)
        # infinity is a number that is too large
        wanted = "seconds above 0" if seconds == "inf" else "a (finite )?number"
        assert re.search(f"expected {wanted}", str(done.exception))
    with pytest.raises(DataError, match=r"timeout is .*; expected seconds above 0"):
        run(model, videos, out, timeout=float(seconds))
    assert not list(tmp_path.iterdir())


def test_programs_do_not_outlive_the_run(tmp_path):
    mark = tmp_path / "pid"
    script = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    adapter = adapter_of(command_of(tmp_path, script, "{video}"), sampling={})
    shown = ShownClip(Clip("one", "one.mp4"), Frames([], [], []), list, "", "")
    with ThreadPoolExecutor() as pool:
        described_ = pool.submit(adapter.describe, [shown])
        deadline = time.monotonic() + 30
        while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        adapter.close()
        with pytest.raises(ClipError, match="ended with signal 9"):
            described_.result(20)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


SERVER = """
import json, sys
from pathlib import Path
for line in sys.stdin:
    asked = json.loads(line)
    if asked["item"] == "clip02" and not Path(sys.argv[1]).exists():
        Path(sys.argv[1]).touch()
        sys.exit("crashed")
    if asked["item"] == "clip04":
        answer = {"item": asked["item"], "error": "too dark"}
    else:
        answer = {"item": asked["item"], "caption": f"{len(asked['frames'])} {asked['prompt'][:3]}"}
    print(json.dumps(answer), flush=True)
"""


def test_a_program_that_reads_lines(videos, tmp_path):
    spec, out = command_of(tmp_path, SERVER, f"'{tmp_path / 'mark'}'"), tmp_path / "out.json"
    with pytest.raises(DataError) as caught:
        run(spec, videos, out, FEW, server=True)
    assert re.search("2 of 6 clips.*'clip02': .*status 1: crashed", str(caught.value), re.DOTALL)
    assert "'clip04': " in str(caught.value)
    made = run(spec, videos, out, FEW, server=True, partial=True)
    assert made.captions["clip02"] == made.captions["clip05"] == "2 The"
    assert "clip04" not in made.captions


def test_a_program_that_reads_no_lines(videos, tmp_path):
    spec = command_of(tmp_path, "print('hello')", "")
    with pytest.raises(DataError, match="failed 3 times one after the other"):
        run(spec, videos, tmp_path / "out.json", FEW, server=True)


def test_the_server_option_is_for_programs(server, videos, tmp_path):
    with pytest.raises(DataError, match="--server is for command"):
        run(f"openai:vlm@{server.url}", videos, tmp_path / "out.json", server=True)


# What it costs


def test_a_budget_is_kept_over_runs(server, videos, tmp_path):
    output = tmp_path / "out.json"
    six = {"prices": (0.0, 1e6 / 6), "parallel": 1}  # an answer of six tokens costs 1
    with pytest.raises(DataError, match="3 of 6 clips have no caption") as refused:
        described(server, videos, output, budget=3.0, **six)
    assert "3.0000 of 3 is spent; give a higher budget" in str(refused.value)
    assert len(server.requests) == 3
    with pytest.raises(DataError, match="3 of 6 clips have no caption"):
        described(server, videos, output, budget=3.5, **six)
    assert len(server.requests) == 3
    made = described(server, videos, output, budget=6.0, **six)
    assert (len(made.captions), made.record["cost"]) == (6, 6.0)
    with pytest.raises(DataError, match="A budget needs prices"):
        described(server, videos, tmp_path / "other.json", budget=1.0)


def test_requests_in_flight_count_towards_the_budget():
    budget = Budget((0.0, 1.0), 3e-6)
    assert budget.begin()
    budget.end(0, 1)
    assert [budget.begin() for _ in range(3)] == [True, True, False]
