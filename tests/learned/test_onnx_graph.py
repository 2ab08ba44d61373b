"""Graphs for onnxruntime, written without the package onnx."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore.learned.networks.onnx_graph import Graph

pytest.importorskip("onnxruntime")


def lookup(table):
    graph = Graph()
    return graph, graph.node("Gather", graph.constant(table), graph.input("ids", "text", "token"))


def test_a_session_has_its_own_weights():
    table = np.ones((1000, 8), np.float32)
    graph, rows = lookup(table)
    session = graph.session(rows)
    table[:] = 7
    assert (session.run(None, {"ids": np.array([[3]], np.int64)})[0] == 1).all()


def test_the_package_onnx_reads_it():
    onnx = pytest.importorskip("onnx")
    graph, rows = lookup(np.ones((1000, 8), np.float32))
    sums = graph.node("Add", graph.node("Softmax", rows, axis=-1), rows)
    total = graph.node("ReduceMean", sums, axes=[1, 2], keepdims=0)
    model = onnx.load_from_string(graph._model(graph.node("LeakyRelu", total, alpha=0.25)))
    assert [node.op_type for node in model.graph.node] == [
        *("Gather", "Softmax", "Add", "ReduceMean", "LeakyRelu")
    ]
    attributes = {
        attribute.name: onnx.helper.get_attribute_value(attribute)
        for node in model.graph.node
        for attribute in node.attribute
    }
    assert attributes == {"axis": -1, "axes": [1, 2], "keepdims": 0, "alpha": 0.25}
    [table] = model.graph.initializer
    assert table.dims == [1000, 8]
    assert [axis.dim_param for axis in model.graph.input[0].type.tensor_type.shape.dim] == [
        *("text", "token")
    ]
