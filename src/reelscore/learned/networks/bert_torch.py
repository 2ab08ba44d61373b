"""BERT by torch, for a GPU: as `learned.networks.bert`, with texts of any length in one batch.

The tokens of a batch stand one after the other, whatever text they belong to; only attention needs
to know the texts, and takes those of one length together. In half precision (``float16``) are the
products and what is between them; sums of layers, norms and the head stay in single precision.
What the first layers of a network with a head lose would grow from layer to layer: they multiply
the rest of each number, which half precision drops, as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reelscore._packages import need
from reelscore.learned.networks.bert import (
    Array,
    Config,
    Dtype,
    FloatArray,
    Head,
    Pooling,
    Tensors,
    in_bytes,
    in_order,
    shape_of,
)
from reelscore.learned.networks.token_lists import IntArray, TokenLists

if TYPE_CHECKING:
    from torch import Tensor

# Tokens of a batch: a GPU wants more than stays in a core's cache.
_TOKENS, _TOKENS_GPU = 1024, 131_072
_COMPARED = 65_536  # pairs whose vectors are compared at a time
# With as many layers whose products lose little, 100,020 scores of BERTHA differ from those in
# single precision by .0009 at most, and by .0019 with none.
_EXACT_LAYERS = 3


class _Batch(NamedTuple):
    """Texts on the device, sorted by length: their tokens, one text after the other."""

    ids: Tensor
    types: Tensor
    places: Tensor  # of each token in its text
    firsts: Tensor  # the first token of each text
    groups: list[tuple[int, int]]  # tokens of each text, and how many texts have so many


class TorchBert:
    """A BERT encoder with plain matrices."""

    def __init__(
        self,
        tensors: Tensors,
        config: Config,
        dtype: Dtype,
        pooling: Pooling,
        head: Head = (),
        device: str = "cuda",
    ) -> None:
        torch = need("torch")
        self._torch = torch
        self.device = device
        self.batch = _TOKENS if device == "cpu" else _TOKENS_GPU
        self.heads, self.epsilon = shape_of(config)
        self.dtype, self.pooling = dtype, pooling
        self._head = [[torch.tensor(part, device=device) for part in layer] for layer in head]
        self.weights = {name: self._on_device(value) for name, value in tensors.items()}
        self.layers = sum(name.endswith("attention.self.query.weight") for name in tensors)
        for layer in range(self.layers):
            self._join(f"encoder.layer.{layer}.attention.self", ("query", "key", "value"))
        # The product that follows the widest part of a layer costs most and matters least.
        exact_layers = _EXACT_LAYERS if dtype == "float16" and pooling == "first" else 0
        self._exact_places = {
            f"encoder.layer.{layer}.{part}"
            for layer in range(exact_layers)
            for part in ("attention.self.joined", "attention.output.dense", "intermediate.dense")
        }
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

    def _product(self, name: str) -> tuple[Tensor, ...]:
        """Return what a product needs: a matrix, scales of its bytes if it has any, a bias."""
        place = name.removesuffix(".weight")
        bias, values = self.weights[place + ".bias"], self.weights[name]
        scales = self.weights.get(name + ".scale")
        if place in self._exact_places:
            scales = self._torch.ones_like(bias) if scales is None else scales
            halves = values.half().t()  # bytes are whole numbers in half precision too
            return self._torch.cat([halves, halves]).contiguous(), scales, bias
        if self.dtype != "int8":
            product = self._unpacked(name), bias
            return product if self.dtype == "float32" else tuple(part.half() for part in product)
        if scales is None:
            values, scales = (self._on_device(part) for part in in_bytes(values.cpu().numpy()))
        # a GPU multiplies the same bytes as numbers: their sums are exact up to 2^24
        return (values.t() if self.device == "cpu" else values.t().float()), scales, bias

    def _linear(self, place: str, x: Tensor) -> Tensor:
        torch = self._torch
        if place in self._exact_places:
            return self._exact_product(place, x)
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

    def _exact_product(self, place: str, x: Tensor) -> Tensor:
        """Multiply each number as the sum of two in half precision; products add up in single."""
        torch = self._torch
        weight, scales, bias = self._products[place]
        width = x.shape[1]
        if x.dtype == torch.float16:  # nothing was dropped
            both, weight = x, weight[:width]
        else:
            both = x.new_empty((len(x), 2 * width), dtype=torch.float16)
            both[:, :width] = x
            torch.sub(x, both[:, :width], out=both[:, width:])
        if self.device == "cpu":
            product = both.float() @ weight.float()
        else:
            product = torch.mm(both, weight, out_dtype=torch.float32)
        kind = torch.float16 if place.endswith(".joined") else torch.float32  # attention in half
        return torch.addcmul(bias, product, scales, out=torch.empty_like(product, dtype=kind))

    def _norm(self, place: str, x: Tensor) -> Tensor:
        weight, bias = self.weights[place + ".weight"], self.weights[place + ".bias"]
        return self._torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self.epsilon)

    def __call__(self, texts: TokenLists, threads: int = 1) -> FloatArray:
        """Return a row of numbers for each text; threads count on the processor alone."""
        parts = list(by_length(texts.lengths, self.batch))
        if not parts:
            return np.zeros((0, 1))
        return in_order(self._rows(texts, parts, threads).double().cpu().numpy(), parts)

    def cosines(self, texts: TokenLists, pairs: IntArray) -> FloatArray:
        """Compare texts with each other by their rows, on the device; pairs are in two rows."""
        torch = self._torch
        parts = list(by_length(texts.lengths, self.batch))
        vectors = torch.nn.functional.normalize(self._rows(texts, parts))
        place = np.argsort(np.concatenate(parts))
        sides = torch.from_numpy(place[pairs]).to(self.device)
        products = [
            (vectors[ones] * vectors[others]).sum(1)
            for ones, others in zip(*(side.split(_COMPARED) for side in sides), strict=True)
        ]
        found: FloatArray = torch.cat(products).double().cpu().numpy()
        return found

    def _rows(self, texts: TokenLists, parts: Sequence[IntArray], threads: int = 1) -> Tensor:
        """Return the rows of texts in the order of their batches, on the device."""
        with torch_threads(1):
            if self.device == "cpu" and threads > 1:
                with ThreadPoolExecutor(min(threads, len(parts))) as pool:
                    rows = list(pool.map(self._computed, self._batches(texts, parts)))
            else:  # nothing waits for a GPU before its last batch
                rows = list(map(self._computed, self._batches(texts, parts)))
            return self._torch.cat(rows)

    def _batches(self, texts: TokenLists, parts: Sequence[IntArray]) -> Iterator[_Batch]:
        """Copy texts to the device once, and put them together there."""
        torch = self._torch
        order = np.concatenate(parts)
        source, starts, counts, types = (
            torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
            for array in (texts.source, texts.starts[order], texts.counts[order], texts.types)
        )
        begin = 0
        for part in parts:
            lengths, end = texts.lengths[part], begin + len(part)
            total = int(lengths.sum())
            every = torch.arange(total, device=self.device)
            own, whole = counts[begin:end].reshape(-1), counts[begin:end].sum(1)
            firsts = whole.cumsum(0) - whole

            def spread(values: Tensor, sizes: Tensor, total: int = total) -> Tensor:
                # a size that is known need not be waited for
                return torch.repeat_interleave(values, sizes, output_size=total)

            yield _Batch(
                source[every + spread(starts[begin:end].reshape(-1) - own.cumsum(0) + own, own)],
                spread(types.repeat(len(part)), own),
                every - spread(firsts, whole),
                firsts,
                [(k, int(n)) for k, n in enumerate(np.bincount(lengths)) if n],
            )
            begin = end

    def _computed(self, batch: _Batch) -> Tensor:
        """Return the rows of a batch, on the device."""
        torch = self._torch
        if self.device == "cpu":
            torch.set_num_threads(1)  # of the thread that calls
        with torch.inference_mode():
            result = self._vectors(batch)
            for number, (weight, bias) in enumerate(self._head):
                result = torch.tanh(result) if number else result
                result = torch.nn.functional.linear(result, weight, bias)
        return result

    def _vectors(self, batch: _Batch) -> Tensor:
        """Return a vector for each text of a batch."""
        torch, weights = self._torch, self.weights
        ids, types, places, firsts, groups = batch
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
            x = x[firsts] if last else x
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


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use so many threads for a while."""
    torch = need("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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
