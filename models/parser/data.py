"""The training data of the parser: EWT, EWT in the voice of captions, and made-up captions.

python models/parser/data.py UD_ENGLISH_EWT FOLDER

The first folder holds the treebank (`en_ewt-ud-train.conllu`, also compressed as `.xz`).
Needs `lemminflect`; the same seed and the same treebank give the same files.
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
import random
from collections.abc import Iterable
from pathlib import Path

from caption_grammar import CaptionGrammar
from revoicing import revoiced

from reelscore.text.parser.trees import Tree, read_trees, write_tree


def treebank(folder: Path, part: str) -> list[Tree]:
    """The sentences of one `part` (train, dev, test) of UD English EWT."""
    path = folder / f"en_ewt-ud-{part}.conllu"
    if path.exists():
        return list(read_trees(path.read_text("utf-8").splitlines()))
    return list(read_trees(lzma.open(f"{path}.xz", "rt", encoding="utf-8")))


def write(path: Path, trees: Iterable[Tree]) -> None:
    """Write the trees and say how many they are, with a checksum."""
    trees = list(trees)
    content = "".join(map(write_tree, trees)).encode()
    path.write_bytes(content)
    words = sum(len(tree.tokens) for tree in trees)
    checksum = hashlib.sha256(content).hexdigest()[:16]
    print(f"{path.name}: {len(trees):,} sentences, {words:,} words, sha256 {checksum}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captions", type=int, default=20_000, help="made-up captions to write")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "dev", "test"):
        write(options.folder / f"ewt_{part}.conllu", treebank(options.treebank, part))
    chance = random.Random(options.seed)
    voiced = (revoiced(tree, chance) for tree in treebank(options.treebank, "train"))
    write(options.folder / "revoiced.conllu", (tree for tree in voiced if tree))
    grammar = CaptionGrammar(options.seed)
    write(options.folder / "grammar.conllu", (grammar.caption() for _ in range(options.captions)))


if __name__ == "__main__":
    main()
