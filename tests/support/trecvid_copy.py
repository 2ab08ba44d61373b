"""A small made-up copy of the TRECVid human assessments, with all its oddities.

Every video has words of its own; a caption holds some of them, and people's score is how many.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

LINES = 80
DROPPED = {2016: [3, 40], 2017: [11], 2018: [0, 25, 79], 2019: [], 2020: []}  # lines MA leaves out
SYSTEMS = ("ALPHA", "Beta_2", "GAMMA-x")
EXTRA_WORDS = ["a", "man", "woman", "is", "the", "with", "in"]


def write_copy(home: Path, seed: int = 1) -> Path:
    """Write all ten folders."""
    for year, dropped in DROPPED.items():
        rng = np.random.default_rng([seed, year])
        words = [[f"w{year}x{line}x{k}" for k in range(6)] for line in range(LINES)]
        people = {letter: _captions(rng, words, np.full(LINES, 6)) for letter in "ABCDE"}
        quality = {name: rng.integers(0, 6, LINES) for name in SYSTEMS}
        systems = {name: _captions(rng, words, quality[name]) for name in SYSTEMS}
        scores = {name: quality[name] + rng.normal(0, 1.5, LINES) for name in SYSTEMS}
        scores["HUMAN"] = 6 + rng.normal(0, 0.5, LINES)
        kept = [line for line in range(LINES) if line not in dropped]
        _write_single(home, year, people, systems, scores)
        _write_multiple(home, year, people, systems, scores, kept)
    return home


def _captions(rng, words, counts):
    return [
        " ".join([*rng.permutation(own)[:count], *rng.choice(EXTRA_WORDS, 3)])
        for own, count in zip(words, counts, strict=True)
    ]


def _write_single(home, year, people, systems, scores):
    folder = home / "single-annotator" / str(year)
    few = year < 2018
    prefix = f"trecvid{year % 100}-vtt"
    files = {f"systems/{prefix}.en-en.{name}": texts for name, texts in systems.items()}
    human = {2016: "HUMAN-b", 2017: "HUMAN-b", 2018: "HUMAN_B"}.get(year, "HUMAN-B")
    files[f"systems/{prefix}.en-en.{human}"] = people["B"]
    if few or year == 2019:
        files[f"references/{prefix}-enen-ref.en"] = people["A"]
    for letter in "" if few else "BCDE" if year == 2019 else "ABCDE":
        mark = "_" if year == 2018 else "-"
        files[f"references/{prefix}.en-en.HUMAN{mark}{letter}"] = people[letter]
    if year == 2020:
        files[f"systems/{prefix}.en-en.HUMAN-C"] = people["C"]
        files["systems/trecvid2020-vtt.en-en.HUMAN-C"] = people["C"]
    addresses = [f"https://v/{year}/{line}" for line in range(LINES)] if year < 2019 else []
    files["urls" if year == 2016 else "url"] = addresses
    _write(folder, files, crlf=f"systems/{prefix}.en-en.ALPHA" if year == 2016 else "")
    _write_scores(folder, scores, human, list(range(LINES)), "SYS,SID,RAW.SCR,Z.SCR,N", 1)


def _write_multiple(home, year, people, systems, scores, kept):
    folder = home / "multiple-annotator" / str(year)
    prefix = f"trecvid{year % 100}-vtt.en-en"
    files = {
        f"systems/{prefix}.{name}": [texts[line] for line in kept]
        for name, texts in systems.items()
    }
    mark = "_" if year == 2018 else "-"
    for letter in "B" if year < 2018 else "ABCDE":
        lines = range(LINES) if year == 2018 else kept
        files[f"references/{prefix}.HUMAN{mark}{letter}"] = [people[letter][k] for k in lines]
    if year < 2019:
        lines = range(LINES) if year == 2016 else kept
        files["urls"] = [f"https://v/{year}/{line}" for line in lines]
    _write(folder, files)
    if year == 2019:
        (folder / ".directory").write_text("[Desktop]\n")
        (folder / "references" / ".directory").write_text("[Desktop]\n")
    human = "HUMAN-B" if year == 2019 else ""
    header = "SYS,SID,RAW.SCR,Z.SCR,N" + (",HIT" if year < 2020 else "")
    _write_scores(folder, scores, human, kept, header, 17)


def _write(folder, files, crlf=""):
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        end = " \r\n" if name == crlf else "\n"
        path.write_bytes("".join(line + end for line in lines).encode())


def _write_scores(folder, scores, human, kept, header, ratings):
    rows = [header]
    for name, values in scores.items():
        if name == "HUMAN" and not human:
            continue
        for place, line in enumerate(kept):
            sid = (place + 1) % len(kept)  # from 1 on; the last line is 0
            row = [human if name == "HUMAN" else name, sid, 10 * values[line], values[line]]
            row += [ratings] + ([7] if header.endswith("HIT") else [])
            rows.append(",".join(map(str, row)))
    (folder / "ad-seg-scores-en-en.csv").write_text("\n".join(rows) + "\n")
