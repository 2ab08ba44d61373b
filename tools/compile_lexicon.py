"""Compile WordNet 3.0 into the lexicon of the package reelscore-parser.

python tools/compile_lexicon.py /usr/share/wordnet models/parser/reelscore_parser

The first folder holds WordNet's own files (`data.noun`, `index.noun`, `noun.exc` ...), as the
Debian package `wordnet-base` installs them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reelscore.text.parser.lexicon import BLOCK

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
WORD_SENSE_TYPES = {"n": "1", "v": "2", "r": "4"}

COLLOCATIONS = [
    {
        "verb": "play",
        "object": ["musical_instrument"],
        "words": ["keyboard", "instrument"],
        "sense": 7,
        "reason": "playing an instrument is creation (perform music), not competition; "
        "keyboard and instrument are other things first",
    },
    {
        "verb": "take",
        "words": ["picture", "photograph", "photo", "video", "selfie"],
        "sense": 16,
        "reason": "taking a picture is making one (communication)",
    },
    {
        "verb": "hold",
        "object": ["physical_object", "person"],
        "sense": 2,
        "reason": "captions show hands that hold a thing (contact), not a state that is kept",
    },
]


@dataclass
class Synsets:
    """One part of speech: what `data.*` says of each synset, by its byte offset."""

    offsets: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    parents: list[list[int]] = field(default_factory=list)
    words: list[dict[str, tuple[int, int]]] = field(default_factory=list)  # lexical id, frames


def lines(path: Path) -> Iterator[list[str]]:
    """The fields of each line, without the licence at the head of the file."""
    with path.open(encoding="ascii") as file:
        for line in file:
            if not line.startswith("  "):
                yield line.split(" | ")[0].split()


def read_synsets(path: Path) -> Synsets:
    synsets = Synsets()
    for fields in lines(path):
        synsets.offsets.append(int(fields[0]))
        synsets.files.append(int(fields[1]))
        total = int(fields[3], 16)
        names = [fields[4 + 2 * n].partition("(")[0].lower() for n in range(total)]
        ids = [int(fields[5 + 2 * n], 16) for n in range(total)]
        place = 4 + 2 * total
        pointers = [
            fields[i : i + 4] for i in range(place + 1, place + 1 + 4 * int(fields[place]), 4)
        ]
        synsets.parents.append(
            [int(target) for kind, target, *_ in pointers if kind in ("@", "@i")]
        )
        place += 1 + 4 * int(fields[place])
        frames = [0] * total
        for start in range(place + 1, len(fields), 3):
            frame, word = int(fields[start + 1]), int(fields[start + 2], 16)
            for n in range(total) if word == 0 else [word - 1]:
                frames[n] |= 1 << frame
        synsets.words.append(dict(zip(names, zip(ids, frames, strict=True), strict=True)))
    return synsets


def read_counts(path: Path) -> dict[tuple[str, str, int], int]:
    """SemCor counts by type of sense, lemma and number of the sense."""
    counts = {}
    for key, number, count in lines(path):
        lemma, _, rest = key.partition("%")
        kind = "a" if rest[0] in "35" else {"1": "n", "2": "v", "4": "r"}[rest[0]]
        counts[kind, lemma, int(number)] = int(count)
    return counts


def sections_of(
    pos: str, folder: Path, counts: dict[tuple[str, str, int], int]
) -> dict[str, array | bytes]:
    name = PARTS[pos]
    synsets = read_synsets(folder / f"data.{name}")
    index_of = {offset: index for index, offset in enumerate(synsets.offsets)}
    entries = {}
    for fields in lines(folder / f"index.{name}"):
        total = int(fields[2])
        entries[fields[0]] = [int(offset) for offset in fields[-total:]]
    lemmas = sorted(entries)

    text, starts, first_senses = bytearray(), array("I"), array("I")
    sense_counts, senses, tallies = array("B"), array("I"), array("H")
    frames, ids = array("Q"), array("B")
    for place in range(0, len(lemmas), BLOCK):
        starts.append(len(text))
        first_senses.append(len(senses))
        block = lemmas[place : place + BLOCK]
        text += "\n".join(block).encode()
        for lemma in block:
            sense_counts.append(len(entries[lemma]))
            for number, offset in enumerate(entries[lemma], start=1):
                synset = index_of[offset]
                senses.append(synset)
                tallies.append(counts.get((pos, lemma, number), 0))
                lexical_id, bits = synsets.words[synset][lemma]
                ids.append(lexical_id)
                frames.append(bits)
    starts.append(len(text))

    exceptions = {}
    for form, base, *_ in lines(folder / f"{name}.exc"):
        if base in entries:
            exceptions.setdefault(form, base)
    sections: dict[str, array | bytes] = {
        "text": bytes(text),
        "starts": starts,
        "first_senses": first_senses,
        "sense_counts": sense_counts,
        "synsets": senses,
        "tallies": tallies,
        "offsets": array("I", synsets.offsets),
        "files": array("B", synsets.files),
        "exceptions": "\n".join(
            f"{form} {base}" for form, base in sorted(exceptions.items())
        ).encode(),
    }
    if pos == "v":
        sections |= {"frames": frames, "ids": ids}
    if pos == "n":
        first_parents, parents = array("I", [0]), array("I")
        for targets in synsets.parents:
            parents.extend(index_of[target] for target in targets)
            first_parents.append(len(parents))
        sections |= {"first_parents": first_parents, "parents": parents}
    return {f"{pos}.{key}": value for key, value in sections.items()}


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    counts = read_counts(source / "cntlist.rev")
    data, places = bytearray(), {}
    for pos in PARTS:
        for name, values in sections_of(pos, source, counts).items():
            data += b"\0" * (-len(data) % 8)
            content = values if isinstance(values, bytes) else values.tobytes()
            code = "B" if isinstance(values, bytes) else values.typecode
            places[name] = [len(data), len(content), code]
            data += content
    (target / "lexicon.bin").write_bytes(data)
    header = {
        "source": "Princeton WordNet 3.0",
        "sha256": hashlib.sha256(data).hexdigest(),
        "sections": places,
        "collocations": COLLOCATIONS,
    }
    (target / "lexicon.json").write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    print(f"{len(data):,} bytes in {len(places)} sections")


if __name__ == "__main__":
    main()
