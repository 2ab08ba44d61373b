"""Writes a trained parser as the package carries it, for onnxruntime.

    python models/parser/export.py TRAINED --encoder MINILM --trees TREES... [--out FOLDER]

Pieces of words that captions in English do not have are left out; weights become bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import torch
from network import Heads, Parser, in_bytes
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from train import load

from reelscore.text.grammar.lexicon import Lexicon
from reelscore.text.grammar.trees import read_trees

VERSION = "1.0.0"
PACKAGE = Path(__file__).parent / "reelscore_parser"


class Encoder(nn.Module):
    """From pieces of words to a vector for the root and each word."""

    def __init__(self, parser: Parser, kept: Tensor) -> None:
        super().__init__()
        rounded, scales = in_bytes(parser.pieces.weight.detach()[kept])
        self.parser = parser
        self.scales = nn.Buffer(scales)
        self.bytes = nn.Buffer(rounded)

    def forward(self, pieces: Tensor, firsts: Tensor) -> Tensor:
        vectors = self.bytes[pieces].float() * self.scales[pieces]
        return self.parser.encode(vectors, pieces == 0, firsts)


class Scores(nn.Module):
    """From vectors to tags, scores of heads, and the best relation to each head."""

    def __init__(self, heads: Heads) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tags, arcs, labels = self.heads(words)
        return tags.argmax(-1), arcs, labels.argmax(-1)


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
        if special or (text.isascii() and not piece.startswith("[unused")):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trained", type=Path, help="folder that train.py wrote")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of MiniLM")
    parser.add_argument("--trees", type=Path, nargs="+", required=True, help="the teacher's trees")
    parser.add_argument("--out", type=Path, default=PACKAGE)
    arguments = parser.parse_args()
    trained = load(arguments.trained).eval()
    tokenizer = json.loads((arguments.encoder / "tokenizer.json").read_text(encoding="utf-8"))
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
    out: Path = arguments.out
    (out / "pieces.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    pieces, firsts = torch.ones(2, 7, dtype=torch.int64), torch.tensor([[0, 1, 2, 4], [0, 1, 3, 0]])
    encoder = Encoder(trained, torch.tensor([vocabulary[piece] for piece in kept])).eval()
    axes = {"pieces": "batch piece", "firsts": "batch word", "words": "batch word"}
    write_graph(encoder, {"pieces": pieces, "firsts": firsts}, axes, out / "encoder.onnx")
    vectors = {"words": torch.randn(2, 4, trained.shape.width)}
    axes = {
        "words": "batch head",
        "tags": "batch word",
        "arcs": "batch word head",
        "relations": "batch word head",
    }
    for name, heads in trained.treebanks.items():
        write_graph(Scores(heads), vectors, axes, out / f"{name}.onnx")  # type: ignore[arg-type]
    model = {
        "version": VERSION,
        "treebanks": trained.shape.to_json()["treebanks"],
        "lemmas": lemma_exceptions(arguments.trees),
    }
    (out / "parser.json").write_text(
        json.dumps(model, ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
    )
    sizes = {path.name: path.stat().st_size for path in sorted(out.iterdir()) if path.is_file()}
    json.dump(sizes, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
