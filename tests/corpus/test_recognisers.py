"""The narration recognised by a command, a server or a model: what is sent, and what comes back."""

from __future__ import annotations

import email
import io
import json
import sys
import threading
import types
import wave
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from reelscore.corpus.words.recognisers import open_recogniser
from reelscore.corpus.words.transcripts import read_entries
from reelscore.errors import DataError, MissingExtraError
from support.film_sound import made_pair

# Says when the sound begins and ends to be loud, as two sentences; and counts its calls.
LISTENER = """
import json, sys, wave
import numpy as np
with wave.open(sys.argv[1]) as file:
    sound = np.frombuffer(file.readframes(file.getnframes()), "<i2")
print(sys.argv[1], file=open("calls.txt", "a"))
if sum(1 for _ in open("calls.txt")) == int(sys.argv[2]):
    sys.exit("out of memory")
length = len(sound) / 16000
words = ["Someone", "nods.", "He", "waves."]
times = [0.2 + (length - 0.4) * k / 4 for k in range(5)]
spoken = [{"word": w, "start": a, "end": b} for w, a, b in zip(words, times, times[1:])]
print(json.dumps({"text": "Someone nods. He waves.", "words": spoken}))
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return made_pair(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def aligned(run, pair, tmp_path, monkeypatch):
    """The options of a described track, its map and its narration; and a recogniser beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "listener.py").write_text(LISTENER)
    files = ["--film", str(pair.film), "--ad", str(pair.ad)]
    assert run("corpus", "align", *files, "-o", "map.json")[0] == 0
    assert run("corpus", "segment", *files, "--map", "map.json", "-o", "n.json")[0] == 0
    return ["--ad", str(pair.ad), "--map", "map.json", "--segments", "n.json"]


def test_a_command_hears_each_turn(run, pair, aligned, tmp_path):
    command = f"{sys.executable} listener.py {{}} 0"
    status, _, err = run(
        "corpus", "transcript", *aligned, "--recogniser", command, "-o", "said.json"
    )
    assert (status, "8 sentences with 16 words" in err) == (0, True), err
    said = json.loads((tmp_path / "said.json").read_text())["sentences"]
    assert [each["text"] for each in said] == ["Someone nods.", "He waves."] * 4
    for first, second, (start, end) in zip(said[::2], said[1::2], pair.narration, strict=True):
        middle = (start + end) / 2  # in the film's time; the track begins later
        times = (first["start"], first["end"], second["start"], second["end"])
        assert times == pytest.approx((start, middle, middle, end), abs=0.15)


def test_work_that_broke_off_goes_on(run, pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "listener.py").write_text(LISTENER)
    where = ["--project", "films"]
    files = ["--film", str(pair.film), "--ad", str(pair.ad)]
    for command in (["new", "films"], ["add-film", "one", *files, *where]):
        assert run("corpus", *command)[0] == 0
    assert run("corpus", "align", *where)[0] == run("corpus", "segment", *where)[0] == 0
    heard = ["corpus", "transcript", "one", *where, "--recogniser"]
    command = f"{sys.executable} listener.py {{}} 3"
    status, _, err = run(*heard, command)
    assert (status, "ended with status 1: out of memory" in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "films/films/one/transcript.json").exists()
    assert run(*heard, command)[0] == 0
    assert len((tmp_path / "calls.txt").read_text().splitlines()) == 5  # four turns, one twice
    assert "read already" in run(*heard, command)[2]


class Server(HTTPServer):
    """Answers as Whisper servers do; `forms` are the requests that came."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.forms, self.keys = [], []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = [
            (part.get_param("name", header="content-disposition"), part.get_payload(decode=True))
            for part in email.message_from_bytes(head + body).get_payload()
        ]
        self.server.forms.append(form)
        self.server.keys.append(self.headers["Authorization"])
        is_known = dict(form)["model"] == b"whisper-small"
        answer = {
            "text": " Twenty-five men. They run.",
            "segments": [
                {"id": 0, "start": 0.2, "end": 2.0, "text": " Twenty-five men. They run."}
            ],
            "words": [
                {"word": word, "start": 0.3 * k, "end": 0.3 * k + 0.2}
                for k, word in enumerate(["Twenty", "five", "men", "They", "run"], start=1)
            ],
        }
        content = json.dumps(answer if is_known else {"error": {"message": "no such model"}})
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, *arguments):
        pass


def test_a_server_hears_each_turn(run, pair, aligned, tmp_path, monkeypatch):
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    monkeypatch.setenv("REELSCORE_API_KEY", "secret")
    asked = ["corpus", "transcript", *aligned, "--recogniser", url, "--language", "en"]
    status, _, err = run(*asked, "-o", "said.json")
    assert (status, "no such model" in err) == (2, True)
    assert not (tmp_path / "said.json").exists()
    assert run(*asked, "--model", "whisper-small", "-o", "said.json")[0] == 0
    server.shutdown()
    server.server_close()
    first, *_, last = server.forms
    assert dict(first)["model"] == b"whisper-1"
    assert len(server.forms) == 5
    assert set(server.keys) == {"Bearer secret"}
    fields = dict(last)
    assert (fields["response_format"], fields["language"]) == (b"verbose_json", b"en")
    units = [value for name, value in last if name == "timestamp_granularities[]"]
    assert units == [b"word", b"segment"]
    with wave.open(io.BytesIO(fields["file"])) as sound:
        start, end = pair.narration[-1]
        length = end - start + 0.4
        assert sound.getnframes() / sound.getframerate() == pytest.approx(length, abs=0.2)
    said = json.loads((tmp_path / "said.json").read_text())["sentences"]
    assert [each["text"] for each in said[:2]] == ["Twenty-five men.", "They run."]
    start = pair.narration[0][0] - 0.2  # a little is sent before each turn
    assert said[0]["start"] == pytest.approx(start + 0.3, abs=0.1)
    assert said[1]["start"] == pytest.approx(start + 1.2, abs=0.1)


@dataclass
class Word:
    """A word as faster-whisper 1.2 gives it."""

    start: float
    end: float
    word: str
    probability: float


@dataclass
class Segment:
    """A segment as faster-whisper 1.2 gives it."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: list[Word] | None
    temperature: float | None


def test_a_model_in_a_folder_is_opened_by_faster_whisper(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(MissingExtraError, match="pip install faster-whisper"):
        open_recogniser(str(tmp_path))
    word = Word(np.float64(0.5), np.float64(0.9), " Rain.", 0.8)
    part = Segment(1, 0, 0.0, 1.0, " Rain.", [50364], -0.2, 1.1, 0.01, [word], 0.0)

    class WhisperModel:
        def __init__(self, folder, *, local_files_only):
            assert (folder, local_files_only) == (str(tmp_path), True)

        def transcribe(self, sound, *, language, word_timestamps):
            assert (sound.read(), language, word_timestamps) == (b"RIFF", "en", True)
            return iter([part]), None

    stand_in = types.SimpleNamespace(WhisperModel=WhisperModel)
    monkeypatch.setitem(sys.modules, "faster_whisper", stand_in)
    (tmp_path / "heard.json").write_text(open_recogniser(str(tmp_path), language="en")(b"RIFF"))
    (entry,) = read_entries(tmp_path / "heard.json")
    assert (entry.text, entry.start, entry.end) == ("Rain.", 0.5, 0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name the transcript to read"),
        (["heard.json", "--model", "small"], "are for --recogniser"),
        (["--recogniser", "cat"], "without one --ad, --segments and --map"),
        (["one", "two", "--recogniser", "cat"], "--recogniser needs a film"),
    ],
)
def test_what_does_not_fit_is_refused(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("corpus", "transcript", *arguments)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())


def test_what_is_no_recogniser_is_refused():
    with pytest.raises(DataError, match="neither a folder nor a command that runs"):
        open_recogniser("no-such-program --fast")(b"")
    with pytest.raises(DataError, match="not a command"):
        open_recogniser("'")


POCKETSPHINX = """
import json, sys, wave
from pocketsphinx import Decoder
with wave.open(sys.argv[1]) as file:
    sound = file.readframes(file.getnframes())
decoder = Decoder(samprate=16000, loglevel="FATAL")
decoder.start_utt()
decoder.process_raw(sound, full_utt=True)
decoder.end_utt()
heard = [each for each in decoder.seg() if each.word[0] not in "<["]
words = [
    {"word": each.word.split("(")[0], "start": each.start_frame / 100, "end": each.end_frame / 100}
    for each in heard
]
print(json.dumps({"text": " ".join(each["word"] for each in words), "words": words}))
"""


@pytest.mark.full
def test_a_real_recogniser_hears_people(run, shared, tmp_path, monkeypatch):
    """Its words are bad, their times are not: real voices over a real film."""
    pytest.importorskip("pocketsphinx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hear.py").write_text(POCKETSPHINX)
    film, ad = (str(shared / f"movie/ad/a9-real.{track}.ogg") for track in ("film", "ad"))
    files = ["--film", film, "--ad", ad]
    assert run("corpus", "align", *files, "-o", "map.json")[0] == 0
    assert run("corpus", "segment", *files, "--map", "map.json", "-o", "n.json")[0] == 0
    heard = ["--recogniser", f"{sys.executable} hear.py {{}}", "-o", "said.json"]
    options = ["--ad", ad, "--map", "map.json", "--segments", "n.json"]
    assert run("corpus", "transcript", *options, *heard)[0] == 0
    said = json.loads((tmp_path / "said.json").read_text())["sentences"]
    truth = json.loads((shared / "movie/ad/a9-real.json").read_text())["narration"]
    assert len(said) == len(truth) == 13
    starts, ends = (
        [abs(a[edge] - b[edge]) for a, b in zip(said, truth, strict=True)]
        for edge in ("start", "end")
    )
    assert max(starts) < 0.3
    assert sorted(ends)[-2] < 0.3  # the last word of one turn is not heard
