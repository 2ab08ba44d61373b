"""A corpus as a challenge: its definition, references, clips and a sample of what to hand in.

What participants get lies in a folder of its own, which neither holds nor names the references of
the blind test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from string import Template

import msgspec

from reelscore.corpus.pipeline import indented_json
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
    """Make the files of a challenge on a public and a blind test."""
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
        files[f"participants/{split}_sample.json"] = indented_json(sample)
    for split, clips in splits.items():
        files[f"{split}_references.json"] = to_coco(clips, name=f"{name}, {split} test")
    for file in ("overview.md", "rules.md", "data.md", "challenge.toml"):
        files[file] = _filled(file, name, len(public), len(blind), opens).encode()
    return files


def _filled(file: str, name: str, public: int, blind: int, opens: date) -> str:
    """Fill in what a page or the definition says of a corpus."""
    closes = opens + timedelta(days=_PUBLIC_DAYS)
    blind_closes = closes + timedelta(days=_BLIND_DAYS)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    # TOML's escapes are those of JSON, and DEL
    quoted = msgspec.json.encode(name).decode().replace("\x7f", "\\u007f")
    text = Path(__file__).with_name("challenge").joinpath(file).read_text(encoding="utf-8")
    return Template(text).substitute(
        id=slug or "challenge",
        name=quoted if file.endswith(".toml") else name,
        public=public,
        blind=blind,
        rated=min(_RATED, blind),
        opens=f"{opens}T00:00:00Z",
        closes=f"{closes}T12:00:00Z",
        blind_closes=f"{blind_closes}T12:00:00Z",
        reveals=f"{blind_closes + timedelta(days=_REVEAL_DAYS)}T12:00:00Z",
    )
