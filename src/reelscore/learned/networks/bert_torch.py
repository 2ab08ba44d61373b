"""BERT by torch, for a GPU: as `learned.networks.bert`, with texts of any length in one batch.

The tokens of a batch stand one after the other, whatever text they belong to; only attention needs
to know the texts, and takes those of one length together. In half precision (``float16``) are the
products and what is between them; sums of layers, norms and the head stay in single precision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from reelscore._packages import need
from reelscore.learned.networks.bert import (
    Array,
    Dtype,
    FloatArray,
    Layer,
    Pooling,
    Tensors,
    in_bytes,
    in_order,
    in_parts,
)
from reelscore.learned.networks.token_lists import IntArray, TokenBatch, TokenLists, ranges

if TYPE_CHECKING:
    from torch import Tensor

# Tokens of a batch: a GPU wants more than stays in a core's cache.
_TOKENS, _TOKENS_GPU = 1024, 65536


T = TypeVar("T")
R = TypeVar("R")


class _Sent(NamedTuple):
    """A batch on the device; its texts in groups, as (tokens of each, how many texts)."""

    tokens: Tensor  # rows of numbers, types and places
    groups: list[tuple[int, int]]


class TorchBert:
    """A BERT encoder with plain matrices."""

    def __init__(
        self,
        tensors: Tensors,
        heads: int,
        epsilon: float,
        dtype: Dtype,
        pooling: Pooling,
        head: Sequence[Layer] = (),
        device: str = "cuda",
    ) -> None:
        torch = need("torch")
        self._torch = torch
        self.device = device
        self.batch = _TOKENS if device == "cpu" else _TOKENS_GPU
        self.heads, self.epsilon, self.dtype, self.pooling = heads, epsilon, dtype, pooling
        self._head = [[torch.tensor(part, device=device) for part in layer] for layer in head]
        self.weights = {name: self._on_device(value) for name, value in tensors.items()}
        self.layers = sum(name.endswith("attention.self.query.weight") for name in tensors)
        for layer in range(self.layers):
            self._join(f"encoder.layer.{layer}.attention.self", ("query", "key", "value"))
        self._products = {
            name.removesuffix(".weight"): self._product(name)
            for name, value in self.weights.items()
            if name.endswith(".weight") and value.ndim == 2 and "embeddings" not in name
        }
        for table in ("word", "position", "token_type"):
            name = f"embeddings.{table}_embeddings.weight"
            self.weights[name] = self._unpacked(name)

    def _on_device(self, value: Array) -> Tensor:
        tensor = self._torch.tensor(value, device=self.device)
        return tensor if tensor.dtype == self._torch.int8 else tensor.float()

    def _join(self, place: str, parts: Sequence[str]) -> None:
        """Put the three products of attention into one."""
        for ending in ("weight", "weight.scale", "bias"):
            names = [f"{place}.{part}.{ending}" for part in parts]
            if all(name in self.weights for name in names):
                joined = self._torch.cat([self.weights.pop(name) for name in names])
                self.weights[f"{place}.joined.{ending}"] = joined

    def _unpacked(self, name: str) -> Tensor:
        value = self.weights[name]
        if value.dtype == self._torch.int8:
            return value.float() * self.weights[name + ".scale"][:, None]
        return value

    def _product(self, name: str) -> Tensor:
        bias = self.weights[name.removesuffix("weight") + "bias"]
        if self.dtype != "int8":
            product = self._unpacked(name), bias
            return product if self.dtype == "float32" else tuple(part.half() for part in product)
        values, scales = self.weights[name], self.weights.get(name + ".scale")
        if scales is None:
            values, scales = (self._on_device(part) for part in in_bytes(values.cpu().numpy()))
        # a GPU multiplies the same bytes as numbers: their sums are exact up to 2^24
        return (values.t() if self.device == "cpu" else values.t().float()), scales, bias

    def _linear(self, place: str, x: Tensor) -> Tensor:
        torch = self._torch
        if self.dtype != "int8":
            weight, bias = self._products[place]
            return torch.nn.functional.linear(x.to(weight.dtype), weight, bias)
        weight, scales, bias = self._products[place]
        # two passes for the peak: the infinity norm takes five times as long
        peak = torch.maximum(x.amax(1, keepdim=True), -x.amin(1, keepdim=True)).clamp_min_(1e-12)
        small = (x * (127 / peak)).round_()
        if weight.dtype == torch.int8:
            product = torch._int_mm(small.to(torch.int8), weight) * (peak / 127)
        else:
            product = (small @ weight).mul_(peak / 127)
        return torch.addcmul(bias, product, scales, out=product)

    def _norm(self, place: str, x: Tensor) -> Tensor:
        weight, bias = self.weights[place + ".weight"], self.weights[place + ".bias"]
        return self._torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self.epsilon)

    def __call__(self, texts: TokenLists, threads: int = 1) -> FloatArray:
        """Return a row of numbers for each text; threads count on the processor alone."""
        parts = list(by_length(texts.lengths, self.batch))
        if self.device == "cuda" and parts:
            sent = ahead(lambda part: self._sent(texts.take(part)), parts)
            # nothing waits for the card before its last batch
            rows = self._torch.cat([self._computed(batch) for batch in sent])
            return in_order(rows.cpu().numpy(), parts)
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            return in_parts(self.rows, texts, parts, threads)
        finally:
            self._torch.set_num_threads(before)

    def rows(self, batch: TokenBatch) -> FloatArray:
        """Compute one batch: texts sorted by length."""
        if self.device == "cpu":
            self._torch.set_num_threads(1)  # of the thread that calls
        rows: FloatArray = self._computed(self._sent(batch)).double().cpu().numpy()
        return rows

    def _sent(self, batch: TokenBatch) -> _Sent:
        """Copy a batch to the device; a GPU fetches it while it computes another."""
        torch, lengths = self._torch, batch.lengths
        places = ranges(np.zeros_like(lengths), lengths)
        tokens = torch.from_numpy(np.stack([batch.ids, batch.types, places]))
        if self.device == "cuda":
            tokens = tokens.pin_memory().to(self.device, non_blocking=True)
        sizes, counts = np.unique(lengths, return_counts=True)
        return _Sent(tokens, list(zip(sizes.tolist(), counts.tolist(), strict=True)))

    def _computed(self, batch: _Sent) -> Tensor:
        """Return the rows of a batch, on the device."""
        torch = self._torch
        with torch.inference_mode():
            result = self._vectors(batch)
            for number, (weight, bias) in enumerate(self._head):
                result = torch.tanh(result) if number else result
                result = torch.nn.functional.linear(result, weight, bias)
        return result

    def _vectors(self, batch: _Sent) -> Tensor:
        """Return a vector for each text of a batch, sorted by length."""
        torch, weights = self._torch, self.weights
        (ids, types, places), groups = batch
        x = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][places]
            + weights["embeddings.token_type_embeddings.weight"][types]
        )
        x = self._norm("embeddings.LayerNorm", x)
        for layer in range(self.layers):
            place = f"encoder.layer.{layer}"
            joined = self._linear(f"{place}.attention.self.joined", x)
            last = layer == self.layers - 1 and self.pooling == "first"
            mixed = self._attention(joined, groups, last)
            x = x[places == 0] if last else x
            mixed = self._linear(f"{place}.attention.output.dense", mixed)
            x = self._norm(f"{place}.attention.output.LayerNorm", mixed.float().add_(x))
            wide = torch.nn.functional.gelu(self._linear(f"{place}.intermediate.dense", x))
            narrow = self._linear(f"{place}.output.dense", wide)
            x = self._norm(f"{place}.output.LayerNorm", narrow.float().add_(x))
        if self.pooling != "mean":
            return x
        parts = x.split([length * count for length, count in groups])
        means = [
            part.view(count, length, -1).mean(dim=1)
            for part, (length, count) in zip(parts, groups, strict=True)
        ]
        return torch.cat(means)

    def _attention(
        self, joined: Tensor, groups: Sequence[tuple[int, int]], first_only: bool
    ) -> Tensor:
        width = joined.shape[1] // 3
        rows = [count if first_only else length * count for length, count in groups]
        mixed = joined.new_empty((sum(rows), width))
        for part, into, (length, count) in zip(
            joined.split([length * count for length, count in groups]),
            mixed.split(rows),
            groups,
            strict=True,
        ):
            parts = part.view(count, length, 3, self.heads, width // self.heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            query = query[:, :, :1] if first_only else query
            attended = self._torch.nn.functional.scaled_dot_product_attention(query, key, value)
            attended = attended.transpose(1, 2)
            into.view(attended.shape).copy_(attended)
        return mixed


def by_length(lengths: IntArray, tokens: int = _TOKENS) -> Iterator[IntArray]:
    """Put texts into batches of so many tokens at most, the short ones first.

    >>> [part.tolist() for part in by_length(np.array([3, 5, 3, 3]), tokens=6)]
    [[0, 2], [3], [1]]
    """
    order = np.argsort(lengths, kind="stable")
    ends, begin = np.cumsum(lengths[order]), 0
    while begin < len(order):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + tokens, side="right")))
        yield order[begin:end]
        begin = end


def ahead(make: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
    """Yield what is made of each part, while another thread makes the next.

    >>> list(ahead(str, [1, 2, 3]))
    ['1', '2', '3']
    """
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(1) as thread:
        for part in parts:
            waiting.append(thread.submit(make, part))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        for one in waiting:
            yield one.result()
