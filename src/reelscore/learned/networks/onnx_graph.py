"""An ONNX graph, written node by node, whose weights onnxruntime takes from arrays.

A graph is a message of Protocol Buffers (onnx.proto). Few of its fields are needed, so they are
written here: a network is made of its weights in milliseconds, without the package onnx and
without a second copy of the weights on the disk. The numbers in `_message` are those of the fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need

Value = int | float | str | bytes

_IR_VERSION, _OPSET = 8, 17
_CONTRIBUTED = "com.microsoft"  # operators of onnxruntime's own, in every build of it
_OWN = {"BiasGelu", "MatMulIntegerToFloat", "MultiHeadAttention"}
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_IN_PLACE = 64  # bytes; smaller constants, such as shapes, are part of the graph


class Graph:
    """A graph under construction; values are known by names."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._inputs: list[bytes] = []
        self._constants: list[bytes] = []
        self._arrays: dict[str, NDArray[np.generic]] = {}

    def input(self, name: str, *axes: str) -> str:
        """Add an input of whole numbers; its axes have names, and any length."""
        self._inputs.append(_value(name, "int64", axes))
        return name

    def constant(self, array: NDArray[np.generic]) -> str:
        """Add weights, or other numbers that do not change."""
        array = np.asarray(array, order="C")
        name = f"constant{len(self._constants)}"
        shape = [(1, length) for length in array.shape]
        fields: list[tuple[int, Value]] = [*shape, (2, _TYPES[array.dtype.name]), (8, name)]
        if array.nbytes < _IN_PLACE:
            fields.append((9, array.tobytes()))
        else:  # named as a file's content, which the session replaces by the array
            self._arrays[name] = array
            fields += [(13, _message([(1, "location"), (2, "memory")])), (14, 1)]
        self._constants.append(_message(fields))
        return name

    def numbers(self, *numbers: int) -> str:
        """Add whole numbers, such as a shape or axes."""
        return self.constant(np.array(numbers, np.int64))

    def node(self, operator: str, *inputs: str, **attributes: int | float | list[int]) -> str:
        """Add an operator with one output; an input that is left out is an empty name."""
        output = f"value{len(self._nodes)}"
        domain: list[tuple[int, Value]] = [(7, _CONTRIBUTED)] if operator in _OWN else []
        self._nodes.append(
            _message(
                [
                    *((1, name) for name in inputs),
                    (2, output),
                    (4, operator),
                    *((5, _attribute(name, value)) for name, value in attributes.items()),
                    *domain,
                ]
            )
        )
        return output

    def session(self, output: str) -> Any:
        """Open a session of onnxruntime that computes a value of single precision, on one thread.

        Several threads may run it at once. It has its own copy of the weights.
        """
        onnxruntime = need("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # what could be joined is joined already; joining more makes sums and norms slower
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(a) for a in self._arrays.values()]
        options.add_external_initializers(list(self._arrays), values)
        return onnxruntime.InferenceSession(
            self._model(output), options, providers=["CPUExecutionProvider"]
        )

    def _model(self, output: str) -> bytes:
        graph = _message(
            [
                *((1, node) for node in self._nodes),
                (2, "reelscore"),
                *((5, constant) for constant in self._constants),
                *((11, value) for value in self._inputs),
                (12, _value(output, "float32", None)),
            ]
        )
        operators = [_message([(1, ""), (2, _OPSET)]), _message([(1, _CONTRIBUTED), (2, 1)])]
        return _message([(1, _IR_VERSION), (7, graph), *((8, each) for each in operators)])


def _value(name: str, kind: str, axes: Iterable[str] | None) -> bytes:
    """An input or output: its name, the type of its numbers, and its axes where they are known."""
    tensor: list[tuple[int, Value]] = [(1, _TYPES[kind])]
    if axes is not None:
        tensor.append((2, _message((1, _message([(2, axis)])) for axis in axes)))
    return _message([(1, name), (2, _message([(1, _message(tensor))]))])


def _attribute(name: str, value: int | float | list[int]) -> bytes:
    if isinstance(value, list):
        return _message([(1, name), *((8, number) for number in value), (20, 7)])
    if isinstance(value, float):
        return _message([(1, name), (2, value), (20, 1)])
    return _message([(1, name), (3, value), (20, 2)])


def _message(fields: Iterable[tuple[int, Value]]) -> bytes:
    """Write a message of Protocol Buffers: fields by their numbers.

    >>> _message([(1, 150), (2, "testing")]).hex(" ")
    '08 96 01 12 07 74 65 73 74 69 6e 67'
    """
    parts = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        elif isinstance(value, float):
            parts += [_varint(number << 3 | 5), struct.pack("<f", value)]
        else:
            content = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(content)), content]
    return b"".join(parts)


def _varint(number: int) -> bytes:
    """Write a whole number, seven bits to a byte, the lowest first.

    >>> _varint(300).hex(" "), len(_varint(-1))
    ('ac 02', 10)
    """
    number &= (1 << 64) - 1  # negative numbers are written as their complement
    content = bytearray()
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    content.append(number)
    return bytes(content)
