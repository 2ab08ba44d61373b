"""The network: the lower layers of MiniLM, and for each treebank a tagger and a biaffine parser."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Treebank:
    """What one pair of heads predicts: Penn tags, and relations to the head."""

    tags: list[str]
    relations: list[str]


@dataclass(frozen=True)
class Shape:
    """Everything that is needed to build the network before its weights are read."""

    treebanks: dict[str, Treebank]
    vocabulary: int = 30522
    width: int = 384
    layers: int = 3
    heads: int = 12
    arcs: int = 256
    labels: int = 96
    dropout: float = 0.25

    def to_json(self) -> dict[str, object]:
        return asdict(self)


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.first_norm = nn.LayerNorm(width, eps=1e-12)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.second_norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        batch, length, width = states.shape

        def split(vectors: Tensor) -> Tensor:
            return vectors.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = (
            split(self.query(states)),
            split(self.key(states)),
            split(self.value(states)),
        )
        weights = query @ key.transpose(2, 3) * (width // self.heads) ** -0.5 + bias
        seen = (weights.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)
        states = self.first_norm(states + self.dropout(self.output(seen)))
        wide = functional.gelu(self.wide(states))
        return self.second_norm(states + self.dropout(self.narrow(wide)))


class Heads(nn.Module):
    """Tags, and biaffine scores of every word as head of every other (Dozat and Manning, 2017)."""

    def __init__(self, shape: Shape, treebank: Treebank) -> None:
        super().__init__()
        width, tags, relations = shape.width, len(treebank.tags), len(treebank.relations)
        self.tag = nn.Linear(width, tags)
        self.arc_below, self.arc_above = nn.Linear(width, shape.arcs), nn.Linear(width, shape.arcs)
        self.label_below, self.label_above = (nn.Linear(width, shape.labels) for _ in range(2))
        self.arc = nn.Parameter(torch.zeros(shape.arcs + 1, shape.arcs))
        self.label = nn.Parameter(torch.zeros(relations, shape.labels + 1, shape.labels + 1))
        nn.init.normal_(self.label, std=0.02)
        nn.init.normal_(self.arc, std=0.02)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Score tags (batch, word, tag), heads (batch, word, root or word) and relations.

        `words` has the root's vector before the words'.
        """
        tags = self.tag(self.dropout(words))[:, 1:]
        below, above = words[:, 1:], words
        activate = functional.leaky_relu
        arc_below = self.dropout(activate(self.arc_below(below), 0.1))
        arc_above = self.dropout(activate(self.arc_above(above), 0.1))
        arcs = with_one(arc_below) @ self.arc @ arc_above.transpose(1, 2)
        label_below = with_one(self.dropout(activate(self.label_below(below), 0.1)))
        label_above = with_one(self.dropout(activate(self.label_above(above), 0.1)))
        labels = torch.einsum("bti,rij,bhj->bthr", label_below, self.label, label_above)
        return tags, arcs, labels


def with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors, torch.ones_like(vectors[..., :1])], -1)


class Parser(nn.Module):
    """From pieces of words to tags, heads and relations, for each treebank it was trained on."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.pieces = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(512, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape.width, shape.heads) for _ in range(shape.layers))
        self.treebanks = nn.ModuleDict(
            {name: Heads(shape, treebank) for name, treebank in shape.treebanks.items()}
        )
        self.dropout = nn.Dropout(0.1)

    def encode(self, vectors: Tensor, filling: Tensor, firsts: Tensor) -> Tensor:
        """Give a vector for the root and for each word.

        Args:
            vectors: The pieces' own vectors (batch, piece, width).
            filling: Which pieces only fill a shorter sentence up (batch, piece).
            firsts: For the root and each word, the place of its first piece (batch, 1 + word).
        """
        states = vectors + self.positions.weight[: vectors.shape[1]]
        states = self.dropout(self.norm(states))
        bias = (filling.to(states.dtype) * -1e4)[:, None, None, :]
        for layer in self.layers:
            states = layer(states, bias)
        return states.gather(1, firsts[..., None].expand(-1, -1, states.shape[-1]))

    def forward(
        self, pieces: Tensor, firsts: Tensor, treebank: str
    ) -> tuple[Tensor, Tensor, Tensor]:
        words = self.encode(self.pieces(pieces), pieces == 0, firsts)
        return self.treebanks[treebank](words)  # type: ignore[no-any-return]


def in_bytes(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix to bytes; they and the scales of the rows."""
    scales = rows.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return (rows / scales).round().to(torch.int8), scales


def start_from_minilm(parser: Parser, weights: dict[str, Tensor]) -> None:
    """Copy MiniLM's embeddings and its lower layers into a new parser."""
    prefix = "bert." if any(name.startswith("bert.") for name in weights) else ""

    def copy(target: Tensor, name: str) -> None:
        with torch.no_grad():
            target.copy_(weights[prefix + name].to(target.dtype))

    copy(parser.pieces.weight, "embeddings.word_embeddings.weight")
    copy(parser.positions.weight, "embeddings.position_embeddings.weight")
    with torch.no_grad():
        kind = weights[prefix + "embeddings.token_type_embeddings.weight"][0]
        parser.positions.weight += kind.to(parser.positions.weight.dtype)
    copy(parser.norm.weight, "embeddings.LayerNorm.weight")
    copy(parser.norm.bias, "embeddings.LayerNorm.bias")
    names = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "output": "attention.output.dense",
        "first_norm": "attention.output.LayerNorm",
        "wide": "intermediate.dense",
        "narrow": "output.dense",
        "second_norm": "output.LayerNorm",
    }
    for number, layer in enumerate(parser.layers):
        for ours, theirs in names.items():
            for kind_of in ("weight", "bias"):
                target = getattr(getattr(layer, ours), kind_of)
                copy(target, f"encoder.layer.{number}.{theirs}.{kind_of}")
