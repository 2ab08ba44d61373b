"""BERT by torch, for a GPU: as `learned.networks.bert`, with texts of any length in one batch.

The tokens of a batch stand one after the other, whatever text they belong to; only attention needs
to know the texts, and takes those of one length together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING

from reelscore._packages import need
from reelscore.learned.networks.bert import (
    Array,
    Dtype,
    FloatArray,
    Layer,
    Pooling,
    Tensors,
    in_bytes,
    in_parts,
)
from reelscore.text.wordpiece import Encoding

if TYPE_CHECKING:
    from torch import Tensor

# Tokens of a batch: a GPU wants more than stays in a core's cache.
_TOKENS, _TOKENS_GPU = 1024, 65536


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
        if self.dtype == "float32":
            return self._unpacked(name), bias
        values, scales = self.weights[name], self.weights.get(name + ".scale")
        if scales is None:
            values, scales = (self._on_device(part) for part in in_bytes(values.cpu().numpy()))
        # a GPU multiplies the same bytes as numbers: their sums are exact up to 2^24
        return (values.t() if self.device == "cpu" else values.t().float()), scales, bias

    def _linear(self, place: str, x: Tensor) -> Tensor:
        torch = self._torch
        if self.dtype == "float32":
            return torch.nn.functional.linear(x, *self._products[place])
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

    def __call__(self, texts: Sequence[Encoding], threads: int = 1) -> FloatArray:
        """Return a row of numbers for each text; threads count on the processor alone."""
        parts = list(by_length([len(text.ids) for text in texts], self.batch))
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            return in_parts(self.rows, texts, parts, 1 if self.device == "cuda" else threads)
        finally:
            self._torch.set_num_threads(before)

    def rows(self, texts: Sequence[Encoding]) -> FloatArray:
        """Compute one batch: texts sorted by length."""
        torch = self._torch
        if self.device == "cpu":
            torch.set_num_threads(1)  # of the thread that calls
        with torch.inference_mode():
            result = self._vectors(texts)
            for number, (weight, bias) in enumerate(self._head):
                result = torch.tanh(result) if number else result
                result = torch.nn.functional.linear(result, weight, bias)
            rows: FloatArray = result.double().cpu().numpy()
        return rows

    def _vectors(self, texts: Sequence[Encoding]) -> Tensor:
        """Return a vector for each text of a batch, sorted by length."""
        torch, weights = self._torch, self.weights
        lengths = [len(text.ids) for text in texts]
        groups = [(length, len(list(same))) for length, same in groupby(lengths)]
        ids, types, places = (
            torch.tensor(list(chain.from_iterable(rows)), device=self.device)
            for rows in (
                (text.ids for text in texts),
                (text.type_ids for text in texts),
                (range(length) for length in lengths),
            )
        )
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
            x = self._norm(f"{place}.attention.output.LayerNorm", mixed.add_(x))
            wide = torch.nn.functional.gelu(self._linear(f"{place}.intermediate.dense", x))
            narrow = self._linear(f"{place}.output.dense", wide)
            x = self._norm(f"{place}.output.LayerNorm", narrow.add_(x))
        if self.pooling != "mean":
            return x
        return torch.stack([part.mean(dim=0) for part in x.split(lengths)])

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


def by_length(lengths: Sequence[int], tokens: int = _TOKENS) -> Iterator[list[int]]:
    """Put texts into batches of so many tokens at most, the short ones first.

    >>> list(by_length([3, 5, 3, 3], tokens=6))
    [[0, 2], [3], [1]]
    """
    batch, total = list[int](), 0
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and total + lengths[number] > tokens:
            yield batch
            batch, total = [], 0
        batch.append(number)
        total += lengths[number]
    if batch:
        yield batch
