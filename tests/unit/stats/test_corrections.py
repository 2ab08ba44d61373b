"""Corrections for the number of tests, by hand."""

from __future__ import annotations

import pytest

from reelscore import UnknownNameError
from reelscore.stats.corrections import correct

BY_HAND = [
    # p-values, method, corrected, why
    ([0.01, 0.04, 0.03], "bonferroni", [0.03, 0.12, 0.09], "times three"),
    ([0.01, 0.04, 0.03], "holm", [0.03, 0.06, 0.06], "3 x .01, 2 x .03, 1 x .04 raised to .06"),
    ([0.01, 0.04, 0.03], "bh", [0.03, 0.04, 0.04], "3/1 x .01, 3/2 x .03 lowered to .04, .04"),
    ([0.01, 0.04, 0.03], "none", [0.01, 0.04, 0.03], "as they are"),
    ([0.5, 0.6], "bonferroni", [1.0, 1.0], "never above 1"),
    ([0.02], "holm", [0.02], "a single test needs none"),
    ([], "holm", [], "no test"),
    ([0.02, 0.02], "holm", [0.04, 0.04], "ties"),
    ([0.0, 1.0], "bh", [0.0, 1.0], "ends"),
    # Benjamini and Hochberg (1995), section 3.2: 15 p-values, four findings at 0.05
    (
        [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
            0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
        ],
        "bh",
        [
            0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.063857142857, 0.063857142857, 0.0645,
            0.0765, 0.486, 0.581181818182, 0.714875, 0.753230769231, 0.813214285714, 1.0,
        ],
        "the paper's example",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("p_values", "method", "expected", "why"), BY_HAND)
def test_by_hand(p_values, method, expected, why):
    assert correct(p_values, method) == pytest.approx(expected), why


def test_the_papers_findings():
    p_values, _, _, _ = BY_HAND[-1]
    assert sum(p < 0.05 for p in correct(p_values, "bh")) == 4
    assert sum(p < 0.05 for p in correct(p_values, "bonferroni")) == 3


def test_unknown_method():
    with pytest.raises(UnknownNameError, match="Did you mean 'holm'"):
        correct([0.1], "holmes")
