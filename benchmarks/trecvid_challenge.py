"""TRECVid VTT 2020 as a challenge: each system a team, people's assessments as a column.

    python -m benchmarks trecvid-challenge

Does what ``reelscore challenge trecvid`` does, holds the scores against those of the reference
tools, and computes every score again from the export.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.data import TRECVID
from reelscore.challenges.boards.board_forms import board_grid
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import Contents, export_challenge
from reelscore.challenges.exchange.verification import verify_export
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.views import View
from reelscore.store.values import from_iso
from reelscore_studies.trecvid import trecvid_challenge

PUBLISHED = {"bleu_4": 0.174429, "meteor": 0.172660, "rouge_l": 0.398206, "cider": 0.303038}


def main() -> None:
    if not TRECVID.exists():
        sys.exit(f"The benchmark needs the TRECVid data set; it is not at {TRECVID}.")
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder))


def show(folder: Path) -> None:
    """Make the challenge and print its board, then compute every score again."""
    begin = time.perf_counter()
    where = trecvid_challenge(TRECVID.parent, "SA-2020", folder / "made")
    now = from_iso("2021-01-01T00:00:00Z") or 0
    with open_challenges(where) as database:
        view = View(Challenges(database).find("trecvid-2020"), now=now)
        board = view.board("test")
        assert board is not None
        print(board_grid(board).to_text(100))
        print(f"\nmade in {time.perf_counter() - begin:.1f} s")
        [best] = [row for row in board.rows if row.team == "RUC_AIM3"]
        for name, value in PUBLISHED.items():
            own = board.table[best.id][name].score
            print(f"RUC_AIM3 {name} {own:.6f}, expected {value:.6f}")
            assert round(own, 6) == value
        path = folder / "trecvid-2020.zip"
        export_challenge(
            Challenges(database).find("trecvid-2020"), path, Contents(references=True), now=now
        )
    checked = verify_export(path, threads=1)
    print(
        f"computed again: {checked.submissions} submissions, {checked.scores} scores and "
        f"{checked.arrays} arrays, {len(checked.differences)} differences"
    )
    assert not checked.differences
