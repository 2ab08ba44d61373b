"""BERT on the processor, by onnxruntime, without padding and without unused results.

Texts with the same number of tokens are computed together, so there is no padding and no mask, and
a text's numbers hardly depend on what else is in its batch. Where only the first token is asked
for, the last layer computes no other. Products are computed in single precision (``float32``), or
of bytes (``int8``): then each token's activations are put into bytes by a scale of their own, and
products are summed as integers. `reelscore.learned.networks.bert_torch` does the same on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import DataError
from reelscore.learned.networks.onnx_graph import Graph
from reelscore.learned.networks.token_lists import IntArray, TokenBatch, TokenLists

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
Config = dict[str, Any]  # of an encoder, as transformers writes it
Dtype = Literal["float32", "float16", "int8"]
Pooling = Literal["first", "mean", "tokens"]
Tensors = dict[str, Array]
Layer = tuple[Array, Array]  # matrix and bias
Head = Sequence[Layer]

# Tokens of a batch: what stays in a core's cache from one step to the next.
_TOKENS = 512
_ZERO = np.array(128, np.uint8)  # the byte that stands for 0


class Bert:
    """A BERT encoder, with the layers of a head behind it if there are any."""

    def __init__(
        self, tensors: Tensors, config: Config, dtype: Dtype, pooling: Pooling, head: Head = ()
    ) -> None:
        network = _BertGraph(tensors, config, dtype)
        result = network.encoder(pooling)
        for number, (weight, bias) in enumerate(head):
            result = network.graph.node("Tanh", result) if number else result
            result = network.layer(result, weight, bias)
        self._session = network.graph.session(result)
        self.batch = _TOKENS

    def __call__(self, texts: TokenLists, threads: int = 1) -> FloatArray:
        """Return a row of numbers for each text."""
        parts = list(of_one_length(texts.lengths, self.batch))
        return in_parts(self.rows, texts, parts, threads)

    def rows(self, batch: TokenBatch) -> Array:
        """Compute one batch: texts with the same number of tokens."""
        shape = (len(batch.lengths), batch.lengths[0])
        inputs = {"ids": batch.ids.reshape(shape), "types": batch.types.reshape(shape)}
        rows: Array = self._session.run(None, inputs)[0]
        return rows


class _BertGraph:
    """Writes BERT as a graph: tokens stand one below the other, attention sees them by text."""

    def __init__(self, tensors: Tensors, config: Config, dtype: Dtype) -> None:
        self.tensors, self.dtype = tensors, dtype
        self.heads, self.epsilon = shape_of(config)
        self.graph = graph = Graph()
        self.ids, self.types = (graph.input(name, "text", "token") for name in ("ids", "types"))
        self.width = tensors["embeddings.LayerNorm.weight"].shape[0]
        self.below_each_other = graph.numbers(-1, self.width)
        shape = graph.node("Shape", self.ids)
        self.by_text = graph.node("Concat", shape, graph.numbers(-1), axis=0)

    def encoder(self, pooling: Pooling) -> str:
        """From tokens to a vector for each text."""
        layers = sum(name.endswith("attention.self.query.weight") for name in self.tensors)
        x = self._embeddings()
        for number in range(layers):
            x = self._layer(
                f"encoder.layer.{number}", x, number == layers - 1 and pooling == "first"
            )
        if pooling != "mean":
            return x
        return self.graph.node("ReduceMean", self._texts(x), axes=[1], keepdims=0)

    def layer(self, x: str, weight: Array, bias: Array) -> str:
        """Return a layer in single precision, whatever the others are computed in."""
        product = self.graph.node("MatMul", x, self.graph.constant(weight.T))
        return self.graph.node("Add", product, self.graph.constant(bias))

    def _embeddings(self) -> str:
        graph = self.graph
        words, places, types = (
            graph.constant(unpacked(self.tensors, f"embeddings.{table}_embeddings.weight"))
            for table in ("word", "position", "token_type")
        )
        start, end = graph.numbers(0), graph.node("Shape", self.ids, start=1, end=2)
        x = graph.node("Gather", words, self.ids)
        x = graph.node("Add", x, graph.node("Slice", places, start, end, start))
        x = graph.node("Add", x, graph.node("Gather", types, self.types))
        return self._norm("embeddings.LayerNorm", graph.node("Reshape", x, self.below_each_other))

    def _layer(self, place: str, x: str, first_only: bool) -> str:
        graph, attention = self.graph, f"{place}.attention"
        factor = self._factor(x)
        key, value = (
            self._texts(self._product(factor, f"{attention}.self.{part}"))
            for part in ("key", "value")
        )
        if first_only:
            x = graph.node("Gather", self._texts(x), graph.numbers(0), axis=1)
            x = graph.node("Reshape", x, self.below_each_other)
            query = self._product(self._factor(x), f"{attention}.self.query")
            query = graph.node("Unsqueeze", query, graph.numbers(1))
        else:
            query = self._texts(self._product(factor, f"{attention}.self.query"))
        bias = self._bias(*(f"{attention}.self.{part}" for part in ("query", "key", "value")))
        mixed = graph.node("MultiHeadAttention", query, key, value, bias, num_heads=self.heads)
        mixed = graph.node("Reshape", mixed, self.below_each_other)
        x = self._with_residual(x, mixed, f"{attention}.output")
        wide = self._product(self._factor(x), f"{place}.intermediate.dense")
        wide = graph.node("BiasGelu", wide, self._bias(f"{place}.intermediate.dense"))
        return self._with_residual(x, wide, f"{place}.output")

    def _with_residual(self, x: str, other: str, place: str) -> str:
        """Multiply by a matrix, and put it beside what there was before."""
        product = self._product(self._factor(other), f"{place}.dense")
        product = self.graph.node("Add", product, self._bias(f"{place}.dense"))
        return self._norm(f"{place}.LayerNorm", self.graph.node("Add", product, x))

    def _texts(self, x: str) -> str:
        return self.graph.node("Reshape", x, self.by_text)

    def _norm(self, place: str, x: str) -> str:
        weight, bias = (
            self.graph.constant(unpacked(self.tensors, f"{place}.{part}"))
            for part in ("weight", "bias")
        )
        return self.graph.node("LayerNormalization", x, weight, bias, epsilon=self.epsilon)

    def _bias(self, *places: str) -> str:
        parts = [unpacked(self.tensors, f"{place}.bias") for place in places]
        return self.graph.constant(np.concatenate(parts))

    def _factor(self, x: str) -> tuple[str, str]:
        """Return what is multiplied by matrices: numbers, or bytes with a scale for each token."""
        if self.dtype == "float32":
            return x, ""
        graph = self.graph
        peak = graph.node("ReduceMax", graph.node("Abs", x), axes=[1])
        scale = graph.node("Mul", peak, graph.constant(np.array(1 / 127, np.float32)))
        rows = graph.node("Shape", scale, end=1)
        zeros = graph.node("Expand", graph.constant(_ZERO), rows)
        scales = graph.node("Reshape", scale, rows)
        return graph.node("QuantizeLinear", x, scales, zeros, axis=0), scale

    def _product(self, factor: tuple[str, str], place: str) -> str:
        """Multiply by a matrix."""
        graph, tensors, name = self.graph, self.tensors, f"{place}.weight"
        x, scale = factor
        if self.dtype == "float32":
            return graph.node("MatMul", x, graph.constant(unpacked(tensors, name).T))
        packed = f"{name}.scale" in tensors
        values, scales = (
            (tensors[name], tensors[f"{name}.scale"]) if packed else in_bytes(tensors[name])
        )
        zero, zero_of_values = graph.constant(_ZERO), ""
        if not _multiplies_signed_bytes():
            values, zero_of_values = (values.astype(np.int16) + 128).astype(np.uint8), zero
        product = graph.node(
            "MatMulIntegerToFloat",
            *(x, graph.constant(values.T)),
            *(graph.constant(np.array(1, np.float32)), graph.constant(scales)),
            *(zero, zero_of_values),
        )
        return graph.node("Mul", product, scale)


def shape_of(config: Config) -> tuple[int, float]:
    """Return the number of heads, and what norms add to the variance."""
    return config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)


def open_bert(
    tensors: Tensors, config: Config, dtype: Dtype, pooling: Pooling, head: Head, device: str
) -> Callable[[TokenLists, int], FloatArray]:
    """Open a BERT that gives a row for each text: by onnxruntime, or on a GPU by torch.

    The processor, which is no quicker in half precision, computes in single precision instead.
    """
    if config.get("hidden_act", "gelu") != "gelu":
        raise DataError(f"The encoder's activation is {config['hidden_act']!r}; expected 'gelu'.")
    if device == "cpu":
        exact: Dtype = "float32" if dtype == "float16" else dtype
        return Bert(tensors, config, exact, pooling, head)
    from reelscore.learned.networks import bert_torch

    return bert_torch.TorchBert(tensors, config, dtype, pooling, head, device)


@cache
def _multiplies_signed_bytes() -> bool:
    """Return whether this processor multiplies bytes by signed bytes without overflow.

    Older ones add two products in 16 bits, which may not hold them. Unsigned bytes are then
    multiplied: slower, with the same sums.
    """
    graph = Graph()
    ids = graph.node("Cast", graph.input("ids", "row", "column"), to=2)
    weight, one = graph.constant(np.full((8, 16), 127, np.int8)), np.array(1, np.float32)
    scales = graph.constant(np.ones(16, np.float32))
    output = graph.node("MatMulIntegerToFloat", ids, weight, graph.constant(one), scales)
    sums = graph.session(output).run(None, {"ids": np.full((4, 8), 255, np.int64)})[0]
    return bool((sums == 8 * 255 * 127).all())


def unpacked(tensors: Tensors, name: str) -> NDArray[np.float32]:
    """Return a tensor in single precision.

    >>> unpacked({"w": np.int8([[2], [3]]), "w.scale": np.float32([1, 10])}, "w").tolist()
    [[2.0], [30.0]]
    """
    value = tensors[name].astype(np.float32, copy=False)
    scales = tensors.get(f"{name}.scale")
    return value if scales is None else value * scales[:, None].astype(np.float32)


def in_bytes(weight: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round a matrix to bytes, each row by its own scale; give bytes and scales."""
    values = weight.astype(np.float32)
    scales = np.maximum(np.abs(values).max(axis=1), np.float32(1e-12)) / np.float32(127)
    return np.rint(values / scales[:, None]).astype(np.int8), scales


def of_one_length(lengths: IntArray, tokens: int = _TOKENS) -> Iterator[IntArray]:
    """Put texts of one length into batches of so many tokens at most, the short ones first.

    >>> [part.tolist() for part in of_one_length(np.array([3, 5, 3, 3]), tokens=6)]
    [[0, 2], [3], [1]]
    """
    order = np.argsort(lengths, kind="stable")
    for same in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        size = max(1, tokens // int(lengths[same[0]])) if len(same) else 1
        for begin in range(0, len(same), size):
            yield same[begin : begin + size]


def in_parts(
    rows_of: Callable[[TokenBatch], Array],
    texts: TokenLists,
    parts: Sequence[IntArray],
    threads: int,
) -> FloatArray:
    """Compute rows batch by batch, a batch to each thread; give them in the order of the texts.

    Threads that share every product would wait for each other.
    """
    if not parts:
        return np.zeros((0, 1))

    def compute(part: IntArray) -> Array:
        return rows_of(texts.take(part))

    if threads == 1:
        rows = list(map(compute, parts))
    else:
        with ThreadPoolExecutor(min(threads, len(parts))) as pool:
            rows = list(pool.map(compute, parts))
    return in_order(np.concatenate(rows), parts)


def in_order(rows: Array, parts: Sequence[IntArray]) -> FloatArray:
    """Return the rows of texts that were computed in parts in the order of the texts.

    >>> in_order(np.array([[7], [8], [9]]), [np.array([2]), np.array([0, 1])])[:, 0].tolist()
    [8.0, 9.0, 7.0]
    """
    result = np.empty(rows.shape)
    result[np.concatenate(parts)] = rows
    return result
