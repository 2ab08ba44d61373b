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
    tagged_after: int = 2
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
        if shape.tagged_after < shape.layers:
            self.tag_vectors = nn.Embedding(tags + 1, width)  # the last is the root's
            nn.init.normal_(self.tag_vectors.weight, std=0.02)
        self.arc_below, self.arc_above = nn.Linear(width, shape.arcs), nn.Linear(width, shape.arcs)
        self.label_below, self.label_above = (nn.Linear(width, shape.labels) for _ in range(2))
        self.arc = nn.Parameter(torch.zeros(shape.arcs + 1, shape.arcs))
        self.label = nn.Parameter(torch.zeros(relations, shape.labels + 1, shape.labels + 1))
        nn.init.normal_(self.label, std=0.02)
        nn.init.normal_(self.arc, std=0.02)
        self.dropout = nn.Dropout(shape.dropout)

    def tags(self, words: Tensor) -> Tensor:
        """Score the tags of words; `words` has the root's vector before them."""
        return self.tag(self.dropout(words))[:, 1:]  # type: ignore[no-any-return]

    def with_tags(self, words: Tensor, tags: Tensor) -> Tensor:
        """Tell the upper layers which tags the words have."""
        root = torch.full_like(tags[:, :1], self.tag_vectors.num_embeddings - 1)
        return words + self.tag_vectors(torch.cat([root, tags], 1))  # type: ignore[no-any-return]

    def arcs(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Score heads (batch, word, root or word) and relations to each."""
        below, above = words[:, 1:], words
        activate = functional.leaky_relu
        arc_below = self.dropout(activate(self.arc_below(below), 0.1))
        arc_above = self.dropout(activate(self.arc_above(above), 0.1))
        arcs = with_one(arc_below) @ self.arc @ arc_above.transpose(1, 2)
        label_below = with_one(self.dropout(activate(self.label_below(below), 0.1)))
        label_above = with_one(self.dropout(activate(self.label_above(above), 0.1)))
        labels = torch.einsum("bti,rij,bhj->bthr", label_below, self.label, label_above)
        return arcs, labels


def with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors, torch.ones_like(vectors[..., :1])], -1)


class Parser(nn.Module):
    """From pieces of words to tags, and from words with their tags to heads and relations.

    The lower layers read pieces of words, the upper ones, where there are any, whole words. These
    know the tags: so a tree goes with its tags, wrong ones included, as in tools that tag first.
    """

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

    def read(self, vectors: Tensor, filling: Tensor | None, firsts: Tensor) -> Tensor:
        """Give a vector for the root and for each word, by the lower layers.

        Args:
            vectors: The pieces' own vectors (batch, piece, width).
            filling: Which pieces only fill a shorter sentence up (batch, piece), if any does.
            firsts: For the root and each word, the place of its first piece (batch, 1 + word).
        """
        states = vectors + self.positions.weight[: vectors.shape[1]].to(vectors.dtype)
        states = self.dropout(self.norm(states))
        for layer in self.layers[: self.shape.tagged_after]:
            states = layer(states, unseen(filling, states))
        return states.gather(1, firsts[..., None].expand(-1, -1, states.shape[-1]))

    def relate(
        self, words: Tensor, tags: Tensor, filling: Tensor | None, treebank: str
    ) -> tuple[Tensor, Tensor]:
        """Score heads and relations of words with their tags, by the upper layers."""
        heads: Heads = self.treebanks[treebank]  # type: ignore[assignment]
        if self.shape.tagged_after < self.shape.layers:
            words = heads.with_tags(words, tags)
        for layer in self.layers[self.shape.tagged_after :]:
            words = layer(words, unseen(filling, words))
        return heads.arcs(words)

    def forward(
        self, pieces: Tensor, firsts: Tensor, filling: Tensor, treebank: str, tags: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Score tags, heads and relations.

        Args:
            pieces: Numbers of the pieces, 0 where a shorter sentence is filled up.
            firsts: For the root and each word, the place of its first piece.
            filling: Which of the root and the words only fill a shorter sentence up.
            treebank: How to draw trees.
            tags: The tags that the tree shall go with; by default the likeliest.
        """
        words = self.read(self.pieces(pieces), pieces == 0, firsts)
        scores = self.treebanks[treebank].tags(words)  # type: ignore[operator]
        known = scores.argmax(-1) if tags is None else tags.clamp(min=0)
        return scores, *self.relate(words, known, filling, treebank)


def unseen(filling: Tensor | None, states: Tensor) -> Tensor:
    """What to add to the weights of attention so that nothing attends to what only fills up."""
    if filling is None:
        return torch.zeros((), dtype=states.dtype, device=states.device)
    return (filling.to(states.dtype) * -1e4)[:, None, None, :]


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

    # The pieces stay as they are, rounded: all parsers of the package share one table of them.
    rounded, scales = in_bytes(weights[prefix + "embeddings.word_embeddings.weight"].float())
    parser.pieces.weight = nn.Parameter(rounded.float() * scales, requires_grad=False)
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
