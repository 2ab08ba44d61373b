"""A corpus as a challenge: its definition, references, clips and a sample of what to hand in.

What participants get lies in a folder of its own, which neither holds nor names the references of
the blind test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

import msgspec

from reelscore.corpus.release.clip_files import ExportedClip, to_coco
from reelscore.errors import DataError

SAMPLE = "Someone walks down the street."
"""What the sample of a submission says of every clip."""

PRIVATE = "blind_references.json"
"""The file that nobody but the organisers may read."""

_PUBLIC_DAYS, _BLIND_DAYS, _REVEAL_DAYS = 90, 14, 14
_RATED = 250  # clips that people rate, as in LSMDC 2016


def challenge_files(
    name: str, public: Sequence[ExportedClip], blind: Sequence[ExportedClip], *, opens: date
) -> dict[str, bytes]:
    """Make the files of a challenge on a public and a blind test.

    Args:
        name: The name of the corpus.
        public: The clips of the public test.
        blind: Those of the blind test.
        opens: The day on which the public test opens; the other days follow from it.

    Returns:
        The content of each file by its place; `participants/` is for everybody, the rest for the
        organisers. The definition, `challenge.toml`, comes last.

    Raises:
        DataError: If one of the tests has no clips.

    >>> clip = ExportedClip("f_1", "f", 4.0, 5.0, 3.5, 5.5, ("Someone nods.",))
    >>> files = challenge_files("Films", [clip], [clip], opens=date(2026, 6, 1))
    >>> [name for name in files if name.startswith("participants/")]
    ['participants/public_clips.json', 'participants/public_sample.json', \
'participants/blind_clips.json', 'participants/blind_sample.json']
    """
    splits = {"public": public, "blind": blind}
    files: dict[str, bytes] = {}
    for split, clips in splits.items():
        if not clips:
            raise DataError(
                f"The {split} test has no clips, so there is no challenge; see 'reelscore corpus "
                "split'."
            )
        title = f"{name}, {split} test"
        files[f"participants/{split}_clips.json"] = to_coco(clips, name=title, with_sentences=False)
        sample = [{"image_id": clip.id, "caption": SAMPLE} for clip in clips]
        files[f"participants/{split}_sample.json"] = (
            msgspec.json.format(msgspec.json.encode(sample), indent=1) + b"\n"
        )
    for split, clips in splits.items():
        files[f"{split}_references.json"] = to_coco(clips, name=f"{name}, {split} test")
    counts = {split: len(clips) for split, clips in splits.items()}
    for page, text in _pages(name, counts).items():
        files[f"{page}.md"] = text.encode()
    return files | {"challenge.toml": _definition(name, counts, opens).encode()}


def _definition(name: str, counts: dict[str, int], opens: date) -> str:
    closes = opens + timedelta(days=_PUBLIC_DAYS)
    blind_closes = closes + timedelta(days=_BLIND_DAYS)
    reveals = blind_closes + timedelta(days=_REVEAL_DAYS)
    return f"""\
# Read texts, dates and limits before the challenge opens.
[challenge]
id = "{_slug(name)}"
name = {_text(name)}
pages = {{ overview = "overview.md", rules = "rules.md", data = "data.md" }}
registration = "open"                    # open | invite | approve
teams = {{ largest = 6, close = {_noon(closes)} }}
references = "open"                      # of the public test

[[split]]
id = "public"                            # {counts["public"]} clips
visibility = "public"
references = "public_references.json"
[[split]]
id = "blind"                             # {counts["blind"]} clips
visibility = "blind"
references = "{PRIVATE}"     # copied into the database; then keep it elsewhere

[scoring]
metrics = ["bleu|n:4", "meteor", "rouge_l", "cider", "diversity"]
missing = "error"
empty = "error"
resamples = 1000
seed = 12345
limits = {{ seconds = 600, memory_gb = 4, caption_characters = 2000, upload_mb = 32 }}

[[phase]]
id = "public-test"
splits = ["public"]
opens = {_midnight(opens)}
closes = {_noon(closes)}
feedback = {{ public = "full" }}
limits = {{ per_day = 5, total = 100, concurrent = 2 }}
final = "best"
after = "open"
[[phase]]
id = "blind-test"
splits = ["blind"]
opens = {_noon(closes)}
closes = {_noon(blind_closes)}
reveals = {_noon(reveals)}
feedback = {{ blind = "reveal" }}
limits = {{ per_day = 2, total = 5, concurrent = 1 }}
final = "chosen"

[[board]]
id = "public"
phase = "public-test"
primary = "cider"
columns = [
{_COLUMNS}]
test = {{ level = 0.05, correction = "holm" }}
[[board]]
id = "blind"
phase = "blind-test"
primary = "cider"                        # until people have rated
columns = [
{_COLUMNS}  {{ group = "people", human = "helpful" }},
]
test = {{ level = 0.05, correction = "holm" }}

[[human]]
id = "helpful"                           # would it help the blind? beside the reference
phase = "blind-test"
protocol = "against-reference"
items = {min(_RATED, counts["blind"])}
raters = 3
quorum = [2, 3]
seed = 7

[award]
rule = "column"
column = "human:helpful"
within_cluster = "share"

[publish]
captions = false
items = true
"""


_COLUMNS = """\
  { group = "words", scores = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "meteor", \
"cider"], scale = 100, precision = 1 },
  { group = "text", scores = ["length", "vocabulary", "unique"], ranked = false },
"""


def _pages(name: str, counts: dict[str, int]) -> dict[str, str]:
    return {
        "overview": f"""\
# {name}

Describe short clips of films, each in one sentence. There are two tests: a public one of \
{counts["public"]} clips, whose scores you see at once, and a blind one of {counts["blind"]} clips \
of other films, whose scores are shown when it is over. The winner is decided by people, who are \
asked whether a sentence would help a blind person to follow the film.
""",
        "rules": """\
# Rules

- Hand in one caption for every clip, made by a program without help from people.
- Do not use the films of the tests for training, nor their scripts, subtitles or described tracks.
- Names of people are *Someone* in the references, and *people* for several.
""",
        "data": """\
# Data

`public_clips.json` and `blind_clips.json` list the clips: `id`, `film`, and `start` and `end` in \
seconds of the film. Hand in a JSON list with the `id` of each clip as `image_id` and your \
`caption`, as in `public_sample.json` and `blind_sample.json`.
""",
    }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-") or "challenge"


def _text(text: str) -> str:
    """Write a text as TOML does; its escapes are those of JSON, and DEL."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _midnight(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _noon(day: date) -> str:
    return f"{day.isoformat()}T12:00:00Z"
