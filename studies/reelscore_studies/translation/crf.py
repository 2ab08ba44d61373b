"""The semantic representation of a clip: its most likely subject, verb, object and location.

Four nodes in a chain, one for each role. A node's label y has the potential u(y), which is linear
in the scores of all visual labels, and neighbours have t(y, y'). Weights come from a conditional
random field (L-BFGS); the best labels are found exactly.

The field follows Rohrbach et al. (2013), whose graph may hold more pairs. With ``pairs="full"`` the
three pairs that are no neighbours get the logarithm of how much more often two labels occur
together than by chance, and the best of all combinations of the 20 best labels of each role is
taken.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.errors import DataError
from reelscore.report.tuples import Roles, Tuples
from reelscore.text.parser.roles import ROLES
from reelscore_studies.baselines.clip_features import Features

NONE = "<none>"
Pairs = Literal["chain", "full"]
FloatArray = NDArray[np.float64]
Representation = tuple[str, ...]
_BEST = 20  # labels of each role that are combined with pairs="full"
_NOT_NEIGHBOURS = [(r, s) for r, s in combinations(range(len(ROLES)), 2) if s > r + 1]


def representations(tuples: Tuples, minimum: int = 30) -> dict[str, Representation]:
    """Return the main clause of each item, with rare labels left out."""
    main = {item: _filled(clauses[0]) for item, clauses in tuples.by_item.items() if clauses}
    counts = [Counter(labels[role] for labels in main.values()) for role in range(len(ROLES))]
    return {
        item: tuple(
            label if counts[role][label] >= minimum else NONE for role, label in enumerate(labels)
        )
        for item, labels in main.items()
    }


def _filled(roles: Roles) -> Representation:
    return tuple(label or NONE for label in roles[: len(ROLES)])


@dataclass(frozen=True)
class SemanticField:
    """Potentials of labels and of pairs of labels.

    Attributes:
        labels: The labels of each role.
        unary: For each role a row for each label: weights of the scores, and a bias.
        pairs: For each two roles the potential of each two labels.
    """

    labels: tuple[tuple[str, ...], ...]
    unary: tuple[FloatArray, ...]
    pairs: Mapping[tuple[int, int], FloatArray]

    @classmethod
    def train(
        cls,
        known: Mapping[str, Representation],
        scores: Features,
        *,
        pairs: Pairs = "chain",
        iterations: int = 60,
    ) -> SemanticField:
        """Train the weights."""
        crfsuite = need(
            "sklearn_crfsuite",
            "reelscore-studies[translation]",
            "Semantic representations need",
            "sklearn-crfsuite",
        )
        items = [item for item in scores.items if item in known]
        if not items:
            raise DataError("No item has both tuples and label scores. Are these the same clips?")
        matrix = scores.take(items).matrix
        rows = [_attributes(row) for row in matrix.tolist()]
        wanted = [[f"{r}{label}" for r, label in enumerate(known[item])] for item in items]
        field: Any = crfsuite.CRF(algorithm="lbfgs", c1=0.05, c2=0.3, max_iterations=iterations)
        with warnings.catch_warnings():  # of scikit-learn, about its own classes
            warnings.simplefilter("ignore")
            field.fit(rows, wanted)
        labels = tuple(
            tuple(sorted({known[item][role] for item in items})) for role in range(len(ROLES))
        )
        places = [{label: k for k, label in enumerate(own)} for own in labels]
        width = matrix.shape[1]
        unary = tuple(np.zeros((len(own), width + 1)) for own in labels)
        for (attribute, label), weight in field.state_features_.items():
            role, column = int(attribute[0]), int(attribute[1:])
            if int(label[0]) == role:
                unary[role][places[role][label[1:]], column] = weight
        potentials = {
            (r, s): np.zeros((len(labels[r]), len(labels[s])))
            for r, s in pairwise(range(len(ROLES)))
        }
        for (before, after), weight in field.transition_features_.items():
            r, s = int(before[0]), int(after[0])
            if s == r + 1:
                potentials[r, s][places[r][before[1:]], places[s][after[1:]]] = weight
        if pairs == "full":
            table = [known[item] for item in items]
            potentials |= {(r, s): _together(table, labels, r, s) for r, s in _NOT_NEIGHBOURS}
        return cls(labels, unary, potentials)

    def best(self, scores: NDArray[Any]) -> list[Representation]:
        """Find the best labels of each row of scores."""
        rows = np.hstack([scores, np.ones((len(scores), 1))]).astype(np.float64)
        potentials = [rows @ weights.T for weights in self.unary]
        chain = all(s == r + 1 for r, s in self.pairs)
        find = self._chain if chain else self._full
        return [find([own[k] for own in potentials]) for k in range(len(rows))]

    def value(self, potentials: Sequence[FloatArray], chosen: Sequence[int]) -> float:
        """Add up the potentials of one choice of labels."""
        own = sum(potentials[role][label] for role, label in enumerate(chosen))
        return float(own + sum(t[chosen[r], chosen[s]] for (r, s), t in self.pairs.items()))

    def _named(self, chosen: Sequence[int]) -> Representation:
        return tuple(self.labels[role][label] for role, label in enumerate(chosen))

    def _chain(self, potentials: Sequence[FloatArray]) -> Representation:
        """Viterbi's algorithm."""
        value, back = potentials[0], []
        for role in range(1, len(potentials)):
            together = value[:, None] + self.pairs[role - 1, role]
            back.append(together.argmax(axis=0))
            value = together.max(axis=0) + potentials[role]
        chosen = [int(value.argmax())]
        for before in reversed(back):
            chosen.append(int(before[chosen[-1]]))
        return self._named(chosen[::-1])

    def _full(self, potentials: Sequence[FloatArray]) -> Representation:
        """Return all combinations of the best labels of each role."""
        kept = [np.sort(np.argsort(-own, kind="stable")[:_BEST]) for own in potentials]
        count = len(kept)

        def along(values: FloatArray, *roles: int) -> FloatArray:
            shape = [1] * count
            for role in roles:
                shape[role] = len(kept[role])
            return values.reshape(shape)

        total = sum(along(potentials[role][own], role) for role, own in enumerate(kept))
        for (r, s), pair in self.pairs.items():
            total = total + along(pair[np.ix_(kept[r], kept[s])], r, s)
        place = np.unravel_index(int(np.argmax(total)), np.shape(total))
        return self._named([int(own[k]) for own, k in zip(kept, place, strict=True)])


def _attributes(row: Sequence[float]) -> list[dict[str, float]]:
    """Real-valued features of four nodes: all scores, and a bias, for each role its own."""
    return [
        {f"{role}{k}": value for k, value in enumerate((*row, 1.0))} for role in range(len(ROLES))
    ]


def _together(
    table: Sequence[Representation], labels: Sequence[Sequence[str]], r: int, s: int
) -> FloatArray:
    """How much more often labels of two roles occur together than by chance, as a logarithm."""
    places = [{label: k for k, label in enumerate(labels[role])} for role in (r, s)]
    counts = np.full((len(labels[r]), len(labels[s])), 0.5)
    for row in table:
        counts[places[0][row[r]], places[1][row[s]]] += 1
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    return np.asarray(np.log(counts / expected))
