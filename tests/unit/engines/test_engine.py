"""Engines: results in order, a bounded number in flight, errors as they are."""

from __future__ import annotations

import threading

import pytest

import reelscore
from reelscore.engines import Engine
from reelscore.errors import UnknownNameError


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_batches(workers):
    engine = Engine("threads", workers=workers)
    first_may_end = threading.Event()

    def slow_first(batch, shared):
        if batch == 0 and workers > 1:
            assert first_may_end.wait(300)
        elif batch == 1:
            first_may_end.set()
        return batch + shared

    results = engine.map(slow_first, range(7), engine.broadcast(100))
    assert list(results) == [100, 101, 102, 103, 104, 105, 106]


def test_batches_are_taken_as_workers_become_free():
    engine = Engine("threads", workers=2)
    taken = []

    def batches():
        for k in range(50):
            taken.append(k)
            yield k

    results = engine.map(lambda batch, _: batch, batches(), engine.broadcast(None))
    assert next(results) == 0
    assert len(taken) <= 3
    assert list(results) == list(range(1, 50))


def test_an_error_of_a_batch_stops_the_rest():
    engine = Engine("threads", workers=2)
    done = []

    def failing(batch, _):
        if batch == 2:
            raise ValueError("the third batch")
        done.append(batch)

    with pytest.raises(ValueError, match="the third batch"):
        list(engine.map(failing, range(1000), engine.broadcast(None)))
    assert len(done) < 10


def test_an_unknown_engine_is_refused_by_name():
    with pytest.raises(UnknownNameError, match=r"engine 'thread'.*threads"):
        reelscore.Engine("thread")
