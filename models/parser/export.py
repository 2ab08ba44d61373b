"""Writes a trained parser as the package carries it, for onnxruntime.

    python models/parser/export.py ud=TRAINED teacher=TRAINED --encoder MINILM --trees TREES...

Pieces of words that captions in English do not have are left out; weights become bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from network import Parser, in_bytes
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from train import load

from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.trees import read_trees

VERSION = "1.1.0"
PACKAGE = Path(__file__).parent / "reelscore_parser"


class OneSentence(nn.Module):
    """From the pieces of one sentence to tags, scores of heads, and the best relation to each."""

    def __init__(self, parser: Parser, treebank: str) -> None:
        super().__init__()
        self.parser, self.treebank = parser, treebank
        parser.positions.half()  # a file of half the size

    def forward(self, vectors: Tensor, firsts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        words = self.parser.read(vectors, None, firsts)
        tags = self.parser.treebanks[self.treebank].tags(words).argmax(-1)  # type: ignore[operator]
        arcs, relations = self.parser.relate(words, tags, None, self.treebank)
        return tags, arcs, relations.argmax(-1)


def write_graph(
    module: nn.Module, inputs: dict[str, Tensor], axes: dict[str, str], path: Path
) -> None:
    """Export a module, and store its matrices as bytes; `axes` of inputs and outputs may vary."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.onnx"
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(plain),
            dynamo=False,
            input_names=list(inputs),
            output_names=[name for name in axes if name not in inputs],
            dynamic_axes={name: dict(enumerate(text.split())) for name, text in axes.items()},
            opset_version=17,
        )
        quantize_dynamic(
            plain,
            path,
            weight_type=QuantType.QInt8,
            per_channel=True,
            op_types_to_quantize=["MatMul"],
            extra_options={"MatMulConstBOnly": True},
        )


def english_pieces(vocabulary: dict[str, int]) -> list[str]:
    """The pieces to keep, in their order: padding first, marks, and what Latin letters spell."""
    kept = []
    for piece in sorted(vocabulary, key=vocabulary.__getitem__):
        text = piece.removeprefix("##")
        special = piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
        number = text.isdigit() and len(text) > 2  # is put together from shorter ones
        english = text.isascii() and not piece.startswith("[unused")
        if special or (english and not number):
            kept.append(piece)
    return kept


def lemma_exceptions(paths: list[Path]) -> dict[str, str]:
    """Base forms in trees that the lexicon gives otherwise, by form and tag."""
    lexicon = Lexicon.load()
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for tree in read_trees(lines):
                for token in tree.tokens:
                    counts[token.text, token.tag][token.lemma] += 1
    best = {key: lemmas.most_common(1)[0][0] for key, lemmas in counts.items()}
    return {
        f"{form} {tag}": lemma
        for (form, tag), lemma in sorted(best.items())
        if lexicon.lemma(form, tag).text != lemma
    }


def prefer_nouns(parser: Parser, treebank: str, by: float) -> None:
    """Make the tagger say noun more often.

    Where it is in doubt it says what is likeliest, and so says noun less often than the tagger it
    learned from: that one is often wrong, and always in its own way.
    """
    heads = parser.treebanks[treebank]
    for number, tag in enumerate(parser.shape.treebanks[treebank].tags):
        if tag in ("NN", "NNS"):
            heads.tag.bias.data[number] += by  # type: ignore[operator, union-attr]


def english_tokenizer(encoder: Path) -> tuple[dict[str, Any], list[int]]:
    """The tokenizer with the pieces to keep alone, and their numbers before."""
    tokenizer = json.loads((encoder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    kept = english_pieces(vocabulary)
    numbers = {piece: number for number, piece in enumerate(kept)}
    tokenizer["model"]["vocab"] = numbers
    tokenizer.update(truncation=None, padding=None)
    for token in tokenizer["added_tokens"]:
        token["id"] = numbers[token["content"]]
    for token in tokenizer["post_processor"].get("special_tokens", {}).values():
        token["ids"] = [numbers[piece] for piece in token["tokens"]]
    for name in ("sep", "cls"):
        if name in tokenizer["post_processor"]:
            tokenizer["post_processor"][name][1] = numbers[tokenizer["post_processor"][name][0]]
    return tokenizer, [vocabulary[piece] for piece in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "trained", nargs="+", help="a treebank and the folder train.py wrote for it"
    )
    parser.add_argument("--encoder", type=Path, required=True, help="folder of MiniLM")
    parser.add_argument("--trees", type=Path, nargs="+", required=True, help="the teacher's trees")
    parser.add_argument("--nouns", type=float, default=0.0, help="prefer nouns in teacher's trees")
    parser.add_argument("--out", type=Path, default=PACKAGE)
    arguments = parser.parse_args()
    out: Path = arguments.out
    tokenizer, kept = english_tokenizer(arguments.encoder)
    (out / "pieces.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    inputs = {
        "vectors": torch.randn(1, 7, 384),
        "firsts": torch.tensor([[0, 1, 2, 4]]),
    }
    axes = {
        "vectors": "one piece",
        "firsts": "one head",
        "tags": "one word",
        "arcs": "one word head",
        "relations": "one word head",
    }
    treebanks = {}
    for name, folder in (argument.split("=", 1) for argument in arguments.trained):
        trained = load(Path(folder)).eval()
        if name == "teacher":
            prefer_nouns(trained, name, arguments.nouns)
        write_graph(OneSentence(trained, name), inputs, axes, out / f"{name}.onnx")
        treebanks[name] = asdict(trained.shape.treebanks[name])
        rounded, scales = in_bytes(trained.pieces.weight.detach()[kept])
        np.save(out / "pieces.npy", rounded.numpy())
        np.save(out / "scales.npy", scales.numpy())
    model = {
        "version": VERSION,
        "treebanks": treebanks,
        "lemmas": lemma_exceptions(arguments.trees),
    }
    (out / "parser.json").write_text(
        json.dumps(model, ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
    sizes = {path.name: path.stat().st_size for path in sorted(out.iterdir()) if path.is_file()}
    json.dump(sizes, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
