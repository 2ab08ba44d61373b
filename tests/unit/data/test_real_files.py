"""The TRECVid files that lie beside the checkout, where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelscore.data import pair, read_candidates, read_references
from reelscore.errors import DataError

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "trecvid-vtt-ha"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the TRECVid data is not at {FOLDER}"),
]

FOLDERS = [
    # folder, items, references each, systems
    ("multiple-annotator/2016", 1760, 1, 5),
    ("multiple-annotator/2017", 1773, 1, 13),
    ("multiple-annotator/2019", 2054, 5, 10),
    ("multiple-annotator/2020", 1700, 5, 6),
    ("single-annotator/2016", 1873, 1, 6),
    ("single-annotator/2017", 1880, 1, 14),
    ("single-annotator/2018", 1903, 5, 12),
    ("single-annotator/2019", 2054, 5, 14),
    ("single-annotator/2020", 1700, 5, 12),
]


@pytest.mark.parametrize(("folder", "items", "each", "systems"), FOLDERS)
def test_all_pair(folder: str, items: int, each: int, systems: int) -> None:
    references = read_references(sorted((FOLDER / folder / "references").iterdir()))
    files = sorted((FOLDER / folder / "systems").iterdir())
    assert len(files) == systems
    for file in files:
        paired = pair(read_candidates(file), references)
        assert len(paired) == items
        assert len(paired.references) == items * each
        assert not any("\r" in caption for caption in paired.candidates)


def test_references_of_other_lines_are_refused() -> None:
    folder = FOLDER / "multiple-annotator" / "2018"  # its references are those of 22 more lines
    references = read_references(sorted((folder / "references").iterdir()))
    with pytest.raises(DataError, match="1,881 candidates for 1,903 items"):
        pair(read_candidates(folder / "systems" / "trecvid18-vtt.en-en.INF"), references)


def test_empty_file() -> None:
    with pytest.raises(DataError, match="url: the file is empty"):
        read_candidates(FOLDER / "single-annotator" / "2019" / "url")
