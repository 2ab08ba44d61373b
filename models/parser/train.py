"""Trains the parser on its treebanks, from MiniLM's lower layers.

    python models/parser/train.py DATA OUT [--layers 3] [--steps 12000] [--seed 1]

DATA holds `NAME.conllu(.gz|.xz)` files and `treebanks.json`: for each treebank its files for
training (with how often a round sees each), the files that choose the best weights, and test
files. With `--teachers` (folders of earlier trainings) the parser learns from their mean, too;
files named with `~` then give words alone, in lower case and without punctuation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from network import Parser, Shape, Treebank, start_from_minilm
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional


@dataclass
class Sentence:
    """A sentence as numbers."""

    pieces: list[int]
    firsts: list[int]
    tags: list[int]
    heads: list[int]
    relations: list[int]


Rows = list[list[str]]


def read(path: Path) -> list[Rows]:
    openers = {".gz": gzip.open, ".xz": lzma.open}
    sentences: list[Rows] = []
    rows: Rows = []
    with openers.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            columns = line.rstrip("\n").split("\t")
            if columns[0].isdecimal() and len(columns) > 7:
                rows.append([columns[1], columns[4], columns[6], columns[7]])
            elif len(columns) < 2 and not line.startswith("#") and rows:
                sentences.append(rows)
                rows = []
    return [*sentences, rows] if rows else sentences


def find(data: Path, name: str) -> list[Rows]:
    """Read a file of trees; `name[a:b]` takes a part of it, `~name` its words alone."""
    if name.startswith("~"):
        trees = [[row for row in rows if row[0][0].isalnum()] for rows in find(data, name[1:])]
        return [[[row[0].lower(), "", "-1", ""] for row in rows] for rows in trees if len(rows) > 2]
    name, _, part = name.partition("[")
    path = next(path for path in data.iterdir() if path.name.split(".")[0] == name)
    trees = read(path)
    if part:
        start, _, stop = part.rstrip("]").partition(":")
        trees = trees[int(start or 0) : int(stop) if stop else None]
    return trees


class Numbers:
    """Turns rows into numbers, by the tokenizer and the tags and relations of a treebank."""

    def __init__(self, tokenizer: Tokenizer, treebank: Treebank) -> None:
        self.tokenizer = tokenizer
        self.tags = {name: number for number, name in enumerate(treebank.tags)}
        self.relations = {name: number for number, name in enumerate(treebank.relations)}

    def __call__(self, sentences: list[Rows], longest: int = 120) -> list[Sentence]:
        kept = [rows for rows in sentences if len(rows) <= longest]
        words = [[row[0] for row in rows] for rows in kept]
        encodings = self.tokenizer.encode_batch(words, is_pretokenized=True)
        return [
            self.sentence(rows, encoding) for rows, encoding in zip(kept, encodings, strict=True)
        ]

    def sentence(self, rows: Rows, encoding: object) -> Sentence:
        word_of_piece = encoding.word_ids  # type: ignore[attr-defined]
        first = {word: place for place, word in reversed(list(enumerate(word_of_piece)))}
        # A word without pieces (a lone control character) is read off the end of the sentence.
        last = len(word_of_piece) - 1
        return Sentence(
            encoding.ids,  # type: ignore[attr-defined]
            [0, *(first.get(word, last) for word in range(len(rows)))],
            [self.tags.get(row[1], -1) for row in rows],
            [int(row[2]) for row in rows],
            [self.relations.get(row[3], -1) for row in rows],
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
        "words": padded([[1] * len(one.heads) for one in batch], 0) > 0,
    }
    if device.type == "cuda":
        # From pinned memory the copy does not wait for the work that is queued on the device.
        values = {name: value.pin_memory() for name, value in values.items()}
    return {name: value.to(device, non_blocking=True) for name, value in values.items()}


def masked_arcs(arcs: Tensor, words: Tensor) -> Tensor:
    """No word is its own head, and none hangs on the words that only fill the batch."""
    length = arcs.shape[1]
    own = functional.pad(torch.eye(length, dtype=torch.bool, device=arcs.device), (1, 0))
    filling = functional.pad(~words, (1, 0))[:, None, :]
    return arcs.masked_fill(own | filling, -1e4)


@dataclass
class Beliefs:
    """How probable a parser finds each tag, each head, and each relation to each head."""

    tags: Tensor
    arcs: Tensor
    labels: Tensor


def scores_of(parser: Parser, treebank: str, batch: dict[str, Tensor]) -> Beliefs:
    """Log-probabilities of one parser."""
    tags, arcs, labels = parser(batch["pieces"], batch["firsts"], treebank)
    arcs = masked_arcs(arcs.float(), batch["words"])
    return Beliefs(
        tags.float().log_softmax(-1), arcs.log_softmax(-1), labels.float().log_softmax(-1)
    )


@torch.no_grad()
def mean_beliefs(teachers: list[Parser], treebank: str, batch: dict[str, Tensor]) -> Beliefs:
    """Mean probabilities of several parsers."""
    beliefs = [scores_of(teacher, treebank, batch) for teacher in teachers]
    means = (
        torch.stack([getattr(one, part).exp() for one in beliefs]).mean(0)
        for part in ("tags", "arcs", "labels")
    )
    return Beliefs(*means)


def to_heads(labels: Tensor, heads: Tensor) -> Tensor:
    """The relations to one head of each word."""
    place = heads[..., None, None].expand(-1, -1, 1, labels.shape[-1])
    return labels.gather(2, place).squeeze(2)


def loss_of(
    parser: Parser,
    treebank: str,
    batch: dict[str, Tensor],
    teachers: list[Parser],
    smoothing: float,
) -> Tensor:
    scores = scores_of(parser, treebank, batch)
    gold, words = batch["heads"], batch["words"]
    heads = gold.clamp(min=0)
    loss = torch.zeros((), device=words.device)
    if teachers:
        beliefs = mean_beliefs(teachers, treebank, batch)
        heads = torch.where(gold < 0, beliefs.arcs.argmax(-1), heads)
        pairs = [
            (scores.tags, beliefs.tags),
            (scores.arcs, beliefs.arcs),
            (to_heads(scores.labels, heads), to_heads(beliefs.labels, heads)),
        ]
        for own, target in pairs:
            loss = loss - (target * own.clamp(min=-50)).sum(-1)[words].mean()
    pairs = [
        (scores.tags, batch["tags"]),
        (scores.arcs, gold),
        (to_heads(scores.labels, heads), batch["relations"]),
    ]
    weight = 0.5 if teachers else 1.0
    for own, truth in pairs:
        wrong = functional.cross_entropy(
            own.flatten(0, 1),
            truth.flatten(),
            ignore_index=-1,
            reduction="sum",
            label_smoothing=0.0 if own is scores.arcs else smoothing,
        )
        loss = loss + weight * wrong / (truth >= 0).sum().clamp(min=1)
    return loss


@torch.no_grad()
def evaluate(
    parsers: list[Parser], treebank: str, sentences: list[Sentence], device: torch.device
) -> dict[str, float]:
    for parser in parsers:
        parser.eval()
    right: dict[str, int] = {"tag": 0, "uas": 0, "las": 0}
    total = 0
    for group in batches(sentences, 8000, None):
        batch = tensors(group, device)
        scores = mean_beliefs(parsers, treebank, batch)
        heads = scores.arcs.argmax(-1)
        relations = to_heads(scores.labels, heads).argmax(-1)
        words = batch["words"]
        attached = (heads == batch["heads"]) & words
        right["tag"] += int(((scores.tags.argmax(-1) == batch["tags"]) & words).sum())
        right["uas"] += int(attached.sum())
        right["las"] += int((attached & (relations == batch["relations"])).sum())
        total += int(words.sum())
    return {name: count / total for name, count in right.items()}


def main() -> None:
    arguments = options()
    torch.manual_seed(arguments.seed)
    chance = random.Random(arguments.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = json.loads((arguments.data / arguments.plan).read_text())
    trees = {
        name: {
            part: {file: find(arguments.data, file) for file in files}
            for part, files in parts.items()
        }
        for name, parts in plan.items()
    }
    treebanks = {}
    for name, parts in trees.items():
        rows = [row for file in parts["train"].values() for tree in file for row in tree]
        tags, relations = {row[1] for row in rows}, {row[3] for row in rows}
        treebanks[name] = Treebank(sorted(tags - {""}), sorted(relations - {""}))
    tokenizer = Tokenizer.from_file(str(arguments.encoder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    shape = Shape(treebanks, layers=arguments.layers)
    parser = Parser(shape)
    start_from_minilm(parser, load_file(arguments.encoder / "model.safetensors"))
    parser.to(device)
    if arguments.start:
        parser.load_state_dict(load(arguments.start).state_dict())
    data = {
        name: {
            part: {file: Numbers(tokenizer, treebanks[name])(rows) for file, rows in files.items()}
            for part, files in parts.items()
        }
        for name, parts in trees.items()
    }
    encoder = [weight for name, weight in parser.named_parameters() if "treebanks" not in name]
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
    teachers = [load(folder).to(device).eval() for folder in arguments.teachers]
    if teachers:
        report("teachers", 0, 0.0, all_figures(teachers, data, device))
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
                loss = loss_of(parser, name, batch, teachers, arguments.smoothing)
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
            figures = all_figures([parser], data, device)
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
    parsers: list[Parser],
    data: dict[str, dict[str, dict[str, list[Sentence]]]],
    device: torch.device,
) -> Figures:
    """Evaluate on the files that choose and on the test files."""
    return {
        f"{name}/{file}": evaluate(parsers, name, sentences, device)
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
    scales = pieces.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    stored = {name: value.half().contiguous() for name, value in weights.items()}
    stored["pieces.bytes"] = (pieces / scales).round().to(torch.int8)
    stored["pieces.scales"] = scales.float()
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
    parser.add_argument("--plan", default="treebanks.json")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of MiniLM")
    parser.add_argument("--start", type=Path, help="folder of an earlier training to start from")
    parser.add_argument(
        "--teachers", type=Path, nargs="*", default=[], help="parsers to learn from"
    )
    parser.add_argument("--layers", type=int, default=3)
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
