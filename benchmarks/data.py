"""The captions that are measured: TRECVid VTT, where the data set lies beside the checkout."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRECVID = ROOT.parent / "shared" / "data" / "trecvid-vtt-ha" / "single-annotator"


def trecvid_2020() -> tuple[Path, list[Path]]:
    """The captions of RUC_AIM3 and the five references: 1,700 clips."""
    folder = TRECVID / "2020"
    if not folder.exists():
        sys.exit(f"The benchmark needs the TRECVid data set; it is not at {TRECVID}.")
    return folder / "systems" / "trecvid20-vtt.en-en.RUC_AIM3", sorted(
        (folder / "references").iterdir()
    )


def read_lines(path: Path) -> list[str]:
    """One caption a line; only a line feed ends a line."""
    text = path.read_bytes().decode()
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def all_captions() -> list[str]:
    """Every reference and system caption of the single-annotator sets that has text."""
    trecvid_2020()
    files = sorted(TRECVID.glob("*/references/*")) + sorted(TRECVID.glob("*/systems/*"))
    return [line for path in files for line in read_lines(path) if line.strip()]
