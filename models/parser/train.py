"""Trains the parser on its treebanks, from MiniLM's lower layers.

    python models/parser/train.py DATA OUT --plan teacher.json [--layers 3] [--seed 1]

DATA holds `NAME.conllu(.gz|.xz)` files. The plan says for each treebank which files are for
training (with how often a round sees each), which choose the best weights, and which are tests.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from network import Parser, Shape, Treebank, in_bytes, start_from_minilm
from safetensors.torch import load_file, save_file
from tokenizers import Encoding, Tokenizer
from torch import Tensor
from torch.nn import functional

from reelscore.text.parser.trees import Token, Tree, read_trees


@dataclass
class Sentence:
    """A sentence as numbers."""

    pieces: list[int]
    firsts: list[int]
    tags: list[int]
    heads: list[int]
    relations: list[int]


def find(data: Path, name: str) -> list[Tree]:
    """Read a file of trees; `name[a:b]` takes a part of it."""
    name, _, part = name.partition("[")
    path = next(path for path in data.iterdir() if path.name.split(".")[0] == name)
    openers = {".gz": gzip.open, ".xz": lzma.open}
    with openers.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
        trees = list(read_trees(lines))
    if part:
        start, _, stop = part.rstrip("]").partition(":")
        trees = trees[int(start or 0) : int(stop) if stop else None]
    return trees


class Numbers:
    """Turns trees into numbers, by the tokenizer and the tags and relations of a treebank."""

    def __init__(self, tokenizer: Tokenizer, treebank: Treebank) -> None:
        self.tokenizer = tokenizer
        self.tags = {name: number for number, name in enumerate(treebank.tags)}
        self.relations = {name: number for number, name in enumerate(treebank.relations)}

    def __call__(self, trees: list[Tree], longest: int = 120) -> list[Sentence]:
        kept = [tree.tokens for tree in trees if len(tree.tokens) <= longest]
        words = [[token.text for token in tokens] for tokens in kept]
        encodings = self.tokenizer.encode_batch(words, is_pretokenized=True)
        return [
            self.sentence(tokens, encoding)
            for tokens, encoding in zip(kept, encodings, strict=True)
        ]

    def sentence(self, tokens: Sequence[Token], encoding: Encoding) -> Sentence:
        first = {word: place for place, word in reversed(list(enumerate(encoding.word_ids)))}
        # A word without pieces (a lone control character) is read off the end of the sentence.
        last = len(encoding.ids) - 1
        return Sentence(
            encoding.ids,
            [0, *(first.get(word, last) for word in range(len(tokens)))],
            [self.tags.get(token.tag, -1) for token in tokens],
            [token.head + 1 for token in tokens],
            [self.relations.get(token.relation, -1) for token in tokens],
        )


def padded(rows: list[list[int]], value: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def batches(
    sentences: list[Sentence], words: int, chance: random.Random | None
) -> Iterator[list[Sentence]]:
    """Batches of similar length, of at most `words` words each."""
    noise = chance.random if chance else (lambda: 0.0)
    order = sorted(sentences, key=lambda sentence: len(sentence.pieces) + 3 * noise())
    groups: list[list[Sentence]] = [[]]
    for sentence in order:
        if groups[-1] and (len(groups[-1]) + 1) * len(sentence.pieces) > words:
            groups.append([])
        groups[-1].append(sentence)
    if chance:
        chance.shuffle(groups)
    yield from groups


def tensors(batch: list[Sentence], device: torch.device) -> dict[str, Tensor]:
    values = {
        "pieces": padded([one.pieces for one in batch], 0),
        "firsts": padded([one.firsts for one in batch], 0),
        "tags": padded([one.tags for one in batch], -1),
        "heads": padded([one.heads for one in batch], -1),
        "relations": padded([one.relations for one in batch], -1),
    }
    if device.type == "cuda":
        # From pinned memory the copy does not wait for the work that is queued on the device.
        values = {name: value.pin_memory() for name, value in values.items()}
    return {name: value.to(device, non_blocking=True) for name, value in values.items()}


def masked_arcs(arcs: Tensor, heads: Tensor) -> Tensor:
    """No word is its own head, and none hangs on the words that only fill the batch."""
    length = arcs.shape[1]
    own = functional.pad(torch.eye(length, dtype=torch.bool, device=arcs.device), (1, 0))
    filling = functional.pad(heads < 0, (1, 0))[:, None, :]
    return arcs.masked_fill(own | filling, -1e4)


def to_heads(labels: Tensor, heads: Tensor) -> Tensor:
    """The relations to one head of each word."""
    place = heads.clamp(min=0)[..., None, None].expand(-1, -1, 1, labels.shape[-1])
    return labels.gather(2, place).squeeze(2)


def scores_of(
    parser: Parser, treebank: str, batch: dict[str, Tensor], tags: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Score tags, heads and relations; the trees go with `tags`, by default the likeliest."""
    filling = functional.pad(batch["heads"] < 0, (1, 0))
    tags, arcs, labels = parser(batch["pieces"], batch["firsts"], filling, treebank, tags)
    return tags, masked_arcs(arcs.float(), batch["heads"]), labels


def loss_of(parser: Parser, treebank: str, batch: dict[str, Tensor], smoothing: float) -> Tensor:
    heads = batch["heads"]
    tags, arcs, labels = scores_of(parser, treebank, batch, batch["tags"])

    def entropy(scores: Tensor, truth: Tensor, smoothing: float = 0.0) -> Tensor:
        flat = scores.float().flatten(0, 1)
        return functional.cross_entropy(
            flat, truth.flatten(), ignore_index=-1, label_smoothing=smoothing
        )

    return (
        entropy(tags, batch["tags"], smoothing)
        + entropy(arcs, heads)
        + entropy(to_heads(labels, heads), batch["relations"], smoothing)
    )


@torch.no_grad()
def evaluate(
    parser: Parser, treebank: str, sentences: list[Sentence], device: torch.device
) -> dict[str, float]:
    right: dict[str, int] = {"tag": 0, "uas": 0, "las": 0}
    total = 0
    for group in batches(sentences, 8000, None):
        batch = tensors(group, device)
        tags, arcs, labels = scores_of(parser, treebank, batch)
        heads = arcs.argmax(-1)
        relations = to_heads(labels, heads).argmax(-1)
        words = batch["heads"] >= 0
        attached = (heads == batch["heads"]) & words
        right["tag"] += int(((tags.argmax(-1) == batch["tags"]) & words).sum())
        right["uas"] += int(attached.sum())
        right["las"] += int((attached & (relations == batch["relations"])).sum())
        total += int(words.sum())
    return {name: count / total for name, count in right.items()}


def main() -> None:
    arguments = options()
    torch.manual_seed(arguments.seed)
    chance = random.Random(arguments.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = json.loads(arguments.plan.read_text())
    trees = {
        name: {
            part: {file: find(arguments.data, file) for file in files}
            for part, files in parts.items()
        }
        for name, parts in plan.items()
    }
    treebanks = {}
    for name, parts in trees.items():
        tokens = [
            token for file in parts["train"].values() for tree in file for token in tree.tokens
        ]
        tags, relations = {token.tag for token in tokens}, {token.relation for token in tokens}
        treebanks[name] = Treebank(sorted(tags), sorted(relations))
    tokenizer = Tokenizer.from_file(str(arguments.encoder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    shape = Shape(treebanks, layers=arguments.layers, tagged_after=arguments.tagged_after)
    parser = Parser(shape)
    start_from_minilm(parser, load_file(arguments.encoder / "model.safetensors"))
    if arguments.start:
        parser.load_state_dict(load(arguments.start).state_dict())
    parser.to(device)
    data = {
        name: {
            part: {file: Numbers(tokenizer, treebanks[name])(rows) for file, rows in files.items()}
            for part, files in parts.items()
        }
        for name, parts in trees.items()
    }
    encoder = [
        weight
        for name, weight in parser.named_parameters()
        if "treebanks" not in name and weight.requires_grad
    ]
    optimizer = torch.optim.AdamW(
        [
            {"params": encoder, "lr": arguments.encoder_rate, "top": arguments.encoder_rate},
            {"params": parser.treebanks.parameters(), "lr": arguments.rate, "top": arguments.rate},
        ],
        weight_decay=0.01,
        betas=(0.9, 0.98),
        fused=device.type == "cuda",
    )
    parser.train()
    averages = {name: value.detach().clone() for name, value in parser.state_dict().items()}
    streams = {
        name: stream(parts["train"], plan[name]["train"], arguments.words, chance)
        for name, parts in data.items()
    }
    started = time.time()
    best = -1.0
    for step in range(1, arguments.steps + 1):
        done = max(step / arguments.steps, (time.time() - started) / arguments.seconds)
        scale = min(step / 400, 1.0) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
        for group in optimizer.param_groups:
            group["lr"] = group["top"] * scale
        for name, batches_of in streams.items():
            batch = tensors(next(batches_of), device)
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                loss = loss_of(parser, name, batch, arguments.smoothing)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(parser.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        decay = min(0.999, step / (step + 200))
        if step % 4 == 0:
            with torch.no_grad():
                values = [value for name, value in parser.state_dict().items()]
                torch._foreach_lerp_(list(averages.values()), values, 1 - decay**4)
        if step % arguments.every == 0 or done >= 1.0:
            current = {name: value.detach().clone() for name, value in parser.state_dict().items()}
            parser.load_state_dict(averages)
            parser.eval()
            figures = all_figures(parser, data, device)
            goal = sum(
                figures[f"{name}/{file}"]["las"]
                for name, parts in data.items()
                for file in parts["dev"]
            )
            report(arguments.out.name, step, time.time() - started, figures)
            if goal > best:
                best = goal
                save(arguments.out, shape, averages)
                (arguments.out / "figures.json").write_text(json.dumps(figures))
            parser.load_state_dict(current)
            parser.train()
        if done >= 1.0:
            return


Figures = dict[str, dict[str, float]]


def all_figures(
    parser: Parser,
    data: dict[str, dict[str, dict[str, list[Sentence]]]],
    device: torch.device,
) -> Figures:
    """Evaluate on the files that choose and on the test files."""
    return {
        f"{name}/{file}": evaluate(parser, name, sentences, device)
        for name, parts in data.items()
        for part in ("dev", "test")
        for file, sentences in parts[part].items()
    }


def report(name: str, step: int, seconds: float, figures: Figures) -> None:
    short = {
        key: " ".join(f"{value:.4f}" for value in row.values()) for key, row in figures.items()
    }
    print(json.dumps({"name": name, "step": step, "seconds": round(seconds), **short}), flush=True)


def save(folder: Path, shape: Shape, weights: dict[str, Tensor]) -> None:
    """Write the weights in half precision, those of the pieces in bytes with a scale for each."""
    weights = {name: value.float().cpu() for name, value in weights.items()}
    pieces = weights.pop("pieces.weight")
    stored = {name: value.half().contiguous() for name, value in weights.items()}
    stored["pieces.bytes"], stored["pieces.scales"] = in_bytes(pieces)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(stored, folder / "weights.safetensors")
    (folder / "shape.json").write_text(json.dumps(shape.to_json()))


def load(folder: Path) -> Parser:
    """Read a parser that `save` wrote."""
    content = json.loads((folder / "shape.json").read_text())
    content["treebanks"] = {name: Treebank(**one) for name, one in content["treebanks"].items()}
    parser = Parser(Shape(**content))
    weights = load_file(folder / "weights.safetensors")
    pieces = weights.pop("pieces.bytes").float() * weights.pop("pieces.scales")
    values = {name: value.float() for name, value in weights.items()}
    parser.load_state_dict({"pieces.weight": pieces, **values})
    return parser


def stream(
    files: dict[str, list[Sentence]], times: dict[str, float], words: int, chance: random.Random
) -> Iterator[list[Sentence]]:
    """Batches for ever; each round sees every file as often as asked."""
    while True:
        sentences: list[Sentence] = []
        for name, content in files.items():
            whole, part = divmod(times[name], 1)
            sentences += content * int(whole) + chance.sample(content, int(part * len(content)))
        yield from batches(sentences, words, chance)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--plan", type=Path, required=True, help="which files are for what")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of MiniLM")
    parser.add_argument("--start", type=Path, help="go on from a parser with the same treebanks")
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--tagged-after", type=int, default=2, help="layers that read pieces")
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--words", type=int, default=1500, help="pieces in a batch")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--encoder-rate", type=float, default=2e-4)
    parser.add_argument("--smoothing", type=float, default=0.03, help="of tags and relations")
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
