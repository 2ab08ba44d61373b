"""The three networks that write a sentence from label scores (section 4.2.2 of the paper).

At each step the input is the embedding of the previous word and the label scores v, the same at
every step:

- ``1layer``: h = LSTM([e; v])
- ``2layer-unfact``: h¹ = LSTM₁([e; v]), h = LSTM₂(h¹)
- ``2layer-fact``: h¹ = LSTM₁(e), h = LSTM₂([h¹; v])

and the next word has the distribution softmax(W h). Dropout is on e (``lang``), on v (``vis``), on
both (``concat``) or on h before W (``lstm``), with a mask of its own at each step. Units that are
kept are multiplied by 1/(1 − r) for a drop ratio r. The paper's text says 1/r, which is the same at
its ratio of 0.5, and keeps the expectation at no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args

from reelscore._packages import need
from reelscore.errors import DataError, check_choice
from reelscore_studies.baselines.networks.caption_words import PAD

if TYPE_CHECKING:
    from torch import Generator, Tensor

States = list[Any]  # what each layer of a network remembers of the steps before
Architecture = Literal["1layer", "2layer-unfact", "2layer-fact"]
Dropout = Literal["none", "lang", "vis", "concat", "lstm"]


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made of.

    Attributes:
        words: Size of the vocabulary.
        labels: How many label scores come in.
        arch: The architecture.
        hidden: Units of each layer.
        embedding: Numbers that stand for a word.

    >>> NetworkShape(100, 10, "2layer-fact", hidden=8, embedding=4).inputs
    (4, 18)
    """

    words: int
    labels: int
    arch: Architecture = "1layer"
    hidden: int = 500
    embedding: int = 500

    def __post_init__(self) -> None:
        check_choice("architecture", self.arch, get_args(Architecture))
        if min(self.words, self.labels, self.hidden, self.embedding) < 1:
            raise DataError(f"{self}: expected at least one of each.")

    @property
    def inputs(self) -> tuple[int, ...]:
        """How many numbers come into each layer."""
        both = self.embedding + self.labels
        if self.arch == "1layer":
            return (both,)
        if self.arch == "2layer-unfact":
            return (both, self.hidden)
        return (self.embedding, self.hidden + self.labels)


class CaptionNetwork:
    """One network and its weights."""

    def __init__(self, shape: NetworkShape, *, device: str = "cpu", seed: int = 0) -> None:
        torch = need_torch()
        check_device(device)
        self.shape, self.device = shape, device
        parts = {
            "embedding": torch.nn.Embedding(shape.words, shape.embedding, padding_idx=PAD),
            "output": torch.nn.Linear(shape.hidden, shape.words, bias=False),
        }
        for number, size in enumerate(shape.inputs, start=1):
            parts[f"lstm{number}"] = torch.nn.LSTM(size, shape.hidden, batch_first=True)
        chance = torch.Generator().manual_seed(seed)
        self.modules = torch.nn.ModuleDict(parts)
        with torch.no_grad():
            for _, weight in sorted(self.modules.named_parameters()):
                weight.uniform_(-0.08, 0.08, generator=chance)
            parts["embedding"].weight[PAD] = 0
        self.modules.to(device)
        self._layers = [self.modules[f"lstm{k + 1}"] for k in range(len(shape.inputs))]

    def weights(self) -> dict[str, Tensor]:
        """Return the weights by name."""
        return dict(self.modules.named_parameters())

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put weights in place of those that are there."""
        with need_torch().no_grad():
            for name, weight in self.weights().items():
                weight.copy_(tensors[name])

    def parameter_count(self) -> int:
        """Count the numbers that are learned.

        Each layer has 4h(n + h) weights for n inputs and h units, and twice 4h biases.
        """
        return sum(weight.numel() for weight in self.weights().values())

    def logits(
        self,
        words: Tensor,
        labels: Tensor,
        states: States | None = None,
        drop: DropMask | None = None,
    ) -> tuple[Tensor, States]:
        """Score the next word after each word."""
        torch = need_torch()
        language = self.modules["embedding"](words)
        vision = labels[:, None, :].expand(-1, words.shape[1], -1)
        if drop is not None:
            language = drop("lang", language)
            vision = drop("vis", vision)
        states = states or [None] * len(self._layers)
        after = []
        flow = language
        for number, layer in enumerate(self._layers):
            if number == (1 if self.shape.arch == "2layer-fact" else 0):
                flow = torch.cat([flow, vision], dim=2)
            flow, state = layer(flow, states[number])
            after.append(state)
        if drop is not None:
            flow = drop("lstm", flow)
        return self.modules["output"](flow), after


def need_torch() -> ModuleType:
    """Return torch, or say how to get it."""
    return need("torch", "reelscore[torch]", "Networks that write captions need")


def check_device(device: str) -> None:
    """Refuse a GPU where there is none."""
    check_choice("device", device, ("cpu", "cuda"))
    if device == "cuda" and not gpu_is_here():
        raise DataError('torch finds no GPU here. Take device="cpu", or install torch with CUDA.')


def gpu_is_here() -> bool:
    """Return whether torch finds a GPU."""
    return bool(need_torch().cuda.is_available())


_PLACES: dict[str, tuple[str, ...]] = {
    "none": (),
    "lang": ("lang",),
    "vis": ("vis",),
    "concat": ("lang", "vis"),
    "lstm": ("lstm",),
}


class DropMask:
    """Draws dropout masks at one place, from a generator of its own."""

    def __init__(self, place: Dropout, ratio: float, generator: Generator) -> None:
        check_choice("dropout", place, get_args(Dropout))
        if not 0 <= ratio < 1:
            raise DataError(f"A drop ratio of {ratio}; expected 0 up to, but not, 1.")
        self.places, self.ratio, self.generator = _PLACES[place], ratio, generator

    def __call__(self, place: str, values: Tensor) -> Tensor:
        """Drop units of values, if this is the place."""
        if place not in self.places or not self.ratio:
            return values
        torch = need_torch()
        luck = torch.rand(values.shape, generator=self.generator, device=values.device)
        return values * (luck >= self.ratio) / (1 - self.ratio)
