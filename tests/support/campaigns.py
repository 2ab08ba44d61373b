"""The published campaigns that several tests read, and small ones made by hand."""

from __future__ import annotations

from pathlib import Path

from reelscore.campaigns.imports.judgment_files import read_judgments
from reelscore.campaigns.judgments import Judgment, Judgments


def eacl_batches(shared: Path) -> list[Path]:
    """Run A of the EACL 2017 campaign, as downloaded from Mechanical Turk."""
    return sorted((shared / "da-eacl2017-runA" / "batches").glob("*.csv"))


def eacl(shared: Path) -> Judgments:
    return read_judgments(eacl_batches(shared)).judgments


def published(path: Path, sep: str | None = None) -> list[list[str]]:
    """The rows of a published table, its header first."""
    return [line.split(sep) for line in path.read_text().splitlines() if line.strip()]


def rating(rater="r1", score=50.0, system="mine", item="v1", kind="caption", **more) -> Judgment:
    values = {"hit": "h1", "task": f"{system}-{item}-{kind}", "position": 0} | more
    return Judgment(rater=rater, system=system, item=item, kind=kind, score=score, **values)


def paired(captions, degraded, rater="r1", **more) -> list[Judgment]:
    """A rater's scores of captions and of their spoilt twins."""
    rows = []
    for k, (high, low) in enumerate(zip(captions, degraded, strict=True)):
        for kind, score in (("caption", high), ("degraded", low)):
            rows.append(rating(rater, score, "human", f"v{k}", kind, position=len(rows), **more))
    return rows
