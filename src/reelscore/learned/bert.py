"""BERT for inference: captions of one length at a time, nothing padded, nothing computed in vain.

Batches hold texts of exactly the same number of tokens, so there is no padding and no mask, and
a text's numbers hardly depend on what else is in its batch. Where only the first token is asked
for, the last layer computes no other. Weights are kept as they were trained (``float32``), or in
bytes (``int8``): then each token's activations are put into bytes by a scale of their own, and
products are summed as integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.encoders import need

Dtype = Literal["float32", "int8"]
Pooling = Literal["first", "mean"]
Tensors = dict[str, Any]

# Tokens of a batch: what fits into a core's cache with the widest layer; a GPU wants more.
_TOKENS, _TOKENS_GPU = 2048, 65536


class Bert:
    """A BERT encoder with plain matrices.

    Args:
        tensors: Weights by the names transformers gives them, in single precision, or in bytes
            with the scales of their rows under ``name.scale``.
        heads: Attention heads.
        epsilon: Of the layer norms.
        dtype: In what the products are computed.
        device: Where: ``cpu`` or ``cuda``.
    """

    def __init__(
        self, tensors: Tensors, heads: int, epsilon: float, dtype: Dtype, device: str = "cpu"
    ) -> None:
        torch = need("torch")
        self._torch = torch
        self.batch = _TOKENS if device == "cpu" else _TOKENS_GPU
        self.heads, self.epsilon, self.dtype = heads, epsilon, dtype
        self.weights = {
            name: value.to(device) if value.dtype == torch.int8 else value.to(device).float()
            for name, value in tensors.items()
        }
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

    def _join(self, place: str, parts: Sequence[str]) -> None:
        """Put the three products of attention into one."""
        for ending in ("weight", "weight.scale", "bias"):
            names = [f"{place}.{part}.{ending}" for part in parts]
            if all(name in self.weights for name in names):
                joined = self._torch.cat([self.weights.pop(name) for name in names])
                self.weights[f"{place}.joined.{ending}"] = joined

    def _unpacked(self, name: str) -> Any:
        value = self.weights[name]
        if value.dtype == self._torch.int8:
            return value.float() * self.weights[name + ".scale"][:, None]
        return value

    def _product(self, name: str) -> Any:
        bias = self.weights[name.removesuffix("weight") + "bias"]
        if self.dtype == "float32":
            return self._unpacked(name), bias
        values, scales = self.weights[name], self.weights.get(name + ".scale")
        if scales is None:
            values, scales = in_bytes(values)
        return values.t(), scales, bias

    def _linear(self, place: str, x: Any) -> Any:
        torch = self._torch
        if self.dtype == "float32":
            return torch.nn.functional.linear(x, *self._products[place])
        weight, scales, bias = self._products[place]
        rows = x.reshape(-1, x.shape[-1])
        peak = rows.abs().amax(dim=1, keepdim=True).clamp_min_(1e-12)
        small = (rows * (127 / peak)).round_().to(torch.int8)
        found = torch._int_mm(small, weight).float()
        found = torch.addcmul(bias, found.mul_(peak / 127), scales)
        return found.view(*x.shape[:-1], -1)

    def _norm(self, place: str, x: Any) -> Any:
        weight, bias = self.weights[place + ".weight"], self.weights[place + ".bias"]
        return self._torch.nn.functional.layer_norm(x, weight.shape, weight, bias, self.epsilon)

    def vectors(self, ids: Any, types: Any, pooling: Pooling) -> Any:
        """Give a vector for each text of a batch, all of one length.

        Args:
            ids: Tokens, texts × length.
            types: Their types.
            pooling: The first token's vector, or the mean of all.
        """
        torch, weights = self._torch, self.weights
        x = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][types]
        )
        x = self._norm("embeddings.LayerNorm", x)
        for layer in range(self.layers):
            place = f"encoder.layer.{layer}"
            joined = self._linear(f"{place}.attention.self.joined", x)
            last = layer == self.layers - 1 and pooling == "first"
            mixed = self._attention(joined, x.shape, last)
            x = x[:, :1] if last else x
            mixed = self._linear(f"{place}.attention.output.dense", mixed)
            x = self._norm(f"{place}.attention.output.LayerNorm", x + mixed)
            wide = torch.nn.functional.gelu(self._linear(f"{place}.intermediate.dense", x))
            x = self._norm(
                f"{place}.output.LayerNorm", x + self._linear(f"{place}.output.dense", wide)
            )
        return x[:, 0] if pooling == "first" else x.mean(dim=1)

    def _attention(self, joined: Any, shape: Any, first_only: bool) -> Any:
        count, length, width = shape
        parts = joined.view(count, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        query = query[:, :, :1] if first_only else query
        mixed = self._torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).reshape(count, -1, width)


def in_bytes(weight: Any) -> tuple[Any, Any]:
    """Round a matrix to bytes, each row by its own scale; give bytes and scales."""
    torch = need("torch")
    scales = weight.float().abs().amax(dim=1).clamp_min(1e-12) / 127
    return (weight.float() / scales[:, None]).round().to(torch.int8), scales


def same_length(lengths: Sequence[int], tokens: int = _TOKENS) -> Iterator[NDArray[np.int64]]:
    """Group texts by their exact length, into batches of so many tokens at most.

    >>> [part.tolist() for part in same_length([3, 5, 3, 3], tokens=6)]
    [[0, 2], [3], [1]]
    """
    order = np.argsort(lengths, kind="stable")
    sizes = np.asarray(lengths)[order]
    for group in np.split(order, np.flatnonzero(np.diff(sizes)) + 1):
        size = max(1, tokens // max(1, int(np.asarray(lengths)[group[0]])))
        for begin in range(0, len(group), size):
            yield group[begin : begin + size]
