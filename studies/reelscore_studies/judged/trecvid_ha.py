"""TRECVid video-to-text, human assessments 2016–2020: captions, references and judgments.

The data of Lebron et al. (2022), https://github.com/LLebronC/TRECvid-VTT_HA, in ten folders: five
years, each judged by a single annotator a caption (SA) and by many (MA). People rated captions by
Direct Assessment; ``z`` is the mean of the ratings standardised by rater, ``raw`` on 0–100.

Which caption was judged. Column ``SID`` of the judgments numbers the lines of the system files
*from 1 on*, and the last line is SID 0: ``line = (SID - 1) mod lines``, counted from 0. Reading it
from 0 on (``reading="as-published"``), as the published correlations do, pairs every judgment with
the caption of the next video. The evidence is in the documentation, page "Alignment".

What else is not what it seems, and what is done about it:

- MA folders of 2016–2018 leave out some videos of the SA folders (113, 107, 22). Their lines are
  found in the SA system files by the captions of all systems, which are different for every
  video; an item is named by its SA line, from 1 on, in both. So MA needs SA beside it.
- MA-2018 has the references, and MA-2016 the addresses, of all SA lines: they are mapped.
- Captions of people appear as systems (``HUMAN-b``, ``HUMAN_B``) and as references
  (``HUMAN-B``, ``…-ref.en``): all are named ``HUMAN-A`` to ``HUMAN-E``. As systems they are
  left out unless asked for. MA-2019 judges HUMAN-B, whose captions are among the references only.
- SA-2020 has HUMAN-C in two files, byte for byte the same: they are read as one.
- Captions have Windows line ends or outer blanks in a few files: both are taken off. ``<unk>``,
  a system's own token, stays.
- Files are called ``url`` or ``urls``, and are empty or absent in 2019 and 2020. Hidden files and
  locks that an office program left behind are not read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from reelscore.data.captions.caption_files import read_candidates
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, check_choice
from reelscore.learned.judged_captions import JudgedCaption

Reading = Literal["aligned", "as-published"]

YEARS = (2016, 2017, 2018, 2019, 2020)
FOLDERS = tuple(f"{kind}-{year}" for kind in ("SA", "MA") for year in YEARS)
_PLACES = {"SA": "single-annotator", "MA": "multiple-annotator"}
_SCORES = "ad-seg-scores-en-en.csv"
_PERSON = "HUMAN-"


@dataclass(frozen=True)
class Assessment:
    """One folder: what systems and people wrote, and how people judged it."""

    folder: str  # such as ``MA-2018``
    reading: Reading  # how line numbers were read
    items: Sequence[str]  # the items, in the order of the lines
    candidates: Mapping[str, Mapping[str, str]]  # captions by system and item
    annotators: Mapping[str, Mapping[str, str]]  # captions by annotator and item: the references
    human: ScoreTable  # the scores ``z`` and ``raw`` of each judged caption
    judgments: Mapping[str, Mapping[str, int]]  # how many ratings each judged caption had
    urls: Mapping[str, str]  # addresses of the videos, where there are any
    # system and item of each judged caption, in the order of the file
    rows: Sequence[tuple[str, str]] = ()

    def references(self, annotators: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return the references of each item, by all annotators or by some."""
        names = list(self.annotators) if annotators is None else annotators
        for name in names:
            check_choice("annotator", name, self.annotators)
        return {item: [self.annotators[name][item] for name in names] for item in self.items}


def load(
    path: str | Path, folder: str, *, reading: Reading = "aligned", people: bool = False
) -> Assessment:
    r"""Load one folder of the data set.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as copy:
        ...     home = Path(copy, "single-annotator", "2016")
        ...     for name, text in {"systems/x.SYS": "a man\na dog\n",
        ...                        "references/x-ref.en": "a boy\nthe dog\n",
        ...                        "ad-seg-scores-en-en.csv": "SYS,SID,RAW.SCR,Z.SCR,N\n"
        ...                        "SYS,1,80,0.5,1\nSYS,0,40,-0.5,1\n"}.items():
        ...         (home / name).parent.mkdir(parents=True, exist_ok=True)
        ...         _ = (home / name).write_text(text)
        ...     data = load(copy, "SA-2016")
        >>> data.human["SYS"]["raw"].items.to_dict()
        {'1': 80.0, '2': 40.0}
        >>> data.references()
        {'1': ['a boy'], '2': ['the dog']}
    """
    check_choice("folder", folder, FOLDERS)
    check_choice("reading", reading, get_args(Reading))
    home = _home(path, folder)
    systems = _texts(home / "systems")
    lines = len(next(iter(systems.values())))
    whole = _texts(_home(path, "SA" + folder[2:]) / "systems") if folder[:2] == "MA" else systems
    numbers = line_map(systems, whole)
    items = [str(number + 1) for number in numbers]
    total = len(next(iter(whole.values())))

    def by_item(texts: Sequence[str], source: Path) -> dict[str, str]:
        if len(texts) == total:
            texts = [texts[number] for number in numbers]
        if len(texts) != lines:
            raise DataError(
                f"{source}: {len(texts)} lines; expected {lines}, as the systems have, or {total}."
            )
        return dict(zip(items, texts, strict=True))

    paths = [home / name for name in ("url", "urls") if (home / name).is_file()]
    addresses = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    annotators = {
        name: by_item(texts, home / "references")
        for name, texts in _texts(home / "references").items()
    }
    candidates = {name: by_item(texts, home / "systems") for name, texts in systems.items()}
    candidates |= {name: captions for name, captions in annotators.items() if name not in systems}
    judged: dict[str, dict[str, _Row]] = {}
    rows: list[tuple[str, str]] = []
    for row in _rows(home / _SCORES, lines, 0 if reading == "as-published" else 1):
        if row.system not in candidates:
            raise DataError(f"{home / _SCORES}: no captions of {row.system!r}.")
        if people or not row.system.startswith(_PERSON):
            judged.setdefault(row.system, {})[items[row.line]] = row
            rows.append((row.system, items[row.line]))
    return Assessment(
        folder=folder,
        reading=reading,
        items=items,
        candidates={name: candidates[name] for name in sorted(judged)},
        annotators=annotators,
        human=ScoreTable(
            {name: _results(judged[name], folder, reading) for name in sorted(judged)}
        ),
        judgments={
            name: {item: row.ratings for item, row in judged[name].items()}
            for name in sorted(judged)
        },
        urls=by_item(addresses, home) if addresses else {},
        rows=rows,
    )


def load_all(
    path: str | Path, *, reading: Reading = "aligned", people: bool = False
) -> Iterator[Assessment]:
    """Load the ten folders one after the other; arguments as in `load`."""
    for folder in FOLDERS:
        yield load(path, folder, reading=reading, people=people)


def line_map(part: Mapping[str, Sequence[str]], whole: Mapping[str, Sequence[str]]) -> list[int]:
    """Find the lines of some system files in fuller ones, by the captions of all systems.

    Example:
        >>> line_map({"a": ["x", "z"]}, {"a": ["x", "y", "z"], "b": ["1", "2", "3"]})
        [0, 2]
    """
    names = sorted(name for name in part if name in whole)
    if not names:
        raise DataError("The two sets of system files have no system in common.")
    if all(part[name] == whole[name] for name in names):
        return list(range(len(whole[names[0]])))
    places: dict[tuple[str, ...], int] = {}
    for number, captions in enumerate(zip(*(whole[name] for name in names), strict=True)):
        if places.setdefault(captions, number) != number:
            raise DataError(
                f"Lines {places[captions] + 1} and {number + 1} have the same captions by all "
                "systems, so that lines cannot be told apart."
            )
    numbers = [places.get(captions, -1) for captions in zip(*(part[n] for n in names), strict=True)]
    for number, (place, before) in enumerate(zip(numbers, [-1, *numbers], strict=False), start=1):
        if place <= before:
            what = "is not in" if place < 0 else "is in another order than in"
            raise DataError(f"Line {number} of the system files {what} the fuller ones.")
    return numbers


class _Row(NamedTuple):
    """A judged caption; its line is counted from 0 on."""

    system: str
    line: int
    raw: float
    z: float
    ratings: int


def _home(path: str | Path, folder: str) -> Path:
    home = Path(path) / _PLACES[folder[:2]] / folder[3:]
    if not home.is_dir():
        raise DataError(
            f"{home}: there is no such folder; expected a copy of "
            "https://github.com/LLebronC/TRECvid-VTT_HA, with both its folders."
        )
    return home


def _texts(folder: Path) -> dict[str, list[str]]:
    """Read all files of a folder: lines by the name that ends the file's name."""
    by_annotator: dict[str, list[str]] = {}
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder.")
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        name = _name(path.name.rpartition(".")[2])
        texts = [text.strip() for text in read_candidates(path, format="lines").values()]
        if by_annotator.setdefault(name, texts) != texts:
            raise DataError(f"{path}: other captions of {name!r} than in an earlier file.")
    lengths = {name: len(texts) for name, texts in by_annotator.items()}
    if len(set(lengths.values())) != 1:
        raise DataError(f"{folder}: files must have the same number of lines: {lengths or 'none'}.")
    return by_annotator


def _name(name: str) -> str:
    """Name people alike everywhere; a single set of references, ``…-ref.en``, is set A."""
    if name == "en":
        return _PERSON + "A"
    if name[:5] == "HUMAN" and name[5:6] in {"-", "_"}:
        return _PERSON + name[6:].upper()
    return name


def _rows(path: Path, lines: int, first: int) -> Iterator[_Row]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
        try:
            sid = int(row["SID"])
            scores = float(row["RAW.SCR"]), float(row["Z.SCR"]), int(row["N"])
            system = _name(row["SYS"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{path}:{number}: {error}; expected columns SYS, SID, RAW.SCR, Z.SCR, N."
            ) from error
        if not 0 <= sid < lines:
            raise DataError(f"{path}:{number}: SID {sid}; expected 0 to {lines - 1}.")
        yield _Row(system, (sid - first) % lines, *scores)


def _results(rows: Mapping[str, _Row], folder: str, reading: Reading) -> dict[str, MetricResult]:
    columns = {
        "z": {item: row.z for item, row in rows.items()},
        "raw": {item: row.raw for item, row in rows.items()},
    }
    return {
        name: MetricResult(
            name,
            float(np.mean(list(scores.values()))),
            ItemScores.of(scores),
            f"human|scale:{name}|data:trecvid-ha {folder}|reading:{reading}",
        )
        for name, scores in columns.items()
    }


def load_captions(path: str | Path, *, unjudged: bool = True) -> list[JudgedCaption]:
    """Load the captions of all years, each a group, judged once (``SA``) and by many (``MA``).

    The two judgments of a year come with different references: MA-2016 and MA-2017 have HUMAN-B's
    captions, SA has HUMAN-A's, and HUMAN-B's among the systems. Every caption gets all captions
    that people wrote of its video, but for the author's own.

    Args:
        path: A copy of the data set, as for `load`.
        unjudged: Also give the systems' captions that nobody judged.
    """
    captions = []
    for year in YEARS:
        single, multiple = (load(path, f"{kind}-{year}", people=True) for kind in ("SA", "MA"))
        people = people_of(single, multiple)
        for data in (single, multiple):
            captions += _judged(data, people)
        if unjudged:
            captions += _unjudged(single, people)
    return captions


def people_of(*folders: Assessment) -> dict[str, dict[str, str]]:
    """Gather what people wrote of each item, by item and person."""
    by_item: dict[str, dict[str, str]] = {}
    for data in folders:
        persons = {n: texts for n, texts in data.candidates.items() if n.startswith(_PERSON)}
        for name, texts in {**persons, **data.annotators}.items():
            for item, text in texts.items():
                by_item.setdefault(item, {})[name] = text
    return by_item


def _judged(data: Assessment, people: dict[str, dict[str, str]]) -> list[JudgedCaption]:
    kind, _, year = data.folder.partition("-")
    return [
        JudgedCaption(
            group=year,
            kind=kind,
            system=name,
            item=f"{year}/{item}",
            candidate=data.candidates[name][item],
            references=_others(people[item], name),
            score=score,
            raw=data.human[name]["raw"].items[item],
            ratings=data.judgments[name][item],
            person=name.startswith(_PERSON),
        )
        for name in data.human.systems
        for item, score in data.human[name]["z"].items.to_dict().items()
    ]


def _unjudged(data: Assessment, people: dict[str, dict[str, str]]) -> list[JudgedCaption]:
    year = data.folder.partition("-")[2]
    return [
        JudgedCaption(year, "", name, f"{year}/{item}", text, _others(people[item], name))
        for name, texts in data.candidates.items()
        if not name.startswith(_PERSON)
        for item, text in texts.items()
        if item not in data.human[name]["z"].items
    ]


def _others(people: dict[str, str], author: str) -> tuple[str, ...]:
    return tuple(text for name, text in sorted(people.items()) if name != author)
