"""Linear SVMs of many labels at once, on a GPU: the problem that scikit-learn's LinearSVC solves.

Every classifier minimises ½|w|² + Σ cᵢ max(0, 1 − yᵢ f(xᵢ))² with balanced classes and a bias that
is a weight like others. Between two changes of which items lie within the margin this is quadratic,
so Newton's steps reach the minimum exactly after a few; all labels share the features in memory.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reelscore_studies.baselines.networks.lstm import need_torch

if TYPE_CHECKING:
    from torch import Tensor

FloatArray = NDArray[np.float64]
_STEPS = 50
_HALVINGS = 20
_TOLERANCE = 1e-7
_ROUNDING = 1 + 1e-12  # a loss that is larger by less is the same


def fit_together(
    rows: FloatArray, positives: NDArray[np.bool_], c: float, device: str
) -> tuple[FloatArray, FloatArray]:
    """Train a linear SVM with balanced classes for each label."""
    torch = need_torch()
    bias = np.ones((len(rows), 1))
    features = torch.from_numpy(np.hstack([rows, bias])).to(device)
    signs = torch.from_numpy(np.where(positives, 1.0, -1.0)).to(device)
    shares = torch.from_numpy(positives.mean(axis=0)).to(device)
    costs = torch.where(signs > 0, c / (2 * shares), c / (2 * (1 - shares)))
    weights = torch.zeros((features.shape[1], signs.shape[1]), dtype=torch.float64, device=device)
    for _ in range(_STEPS):
        step = _minimum(torch, features, signs, costs, weights) - weights
        before = _loss(features, signs, costs, weights)
        size = torch.ones_like(before)
        for _ in range(_HALVINGS):
            worse = _loss(features, signs, costs, weights + size * step) > before * _ROUNDING
            if not bool(worse.any()):
                break
            size = torch.where(worse, size / 2, size)
        weights = weights + size * step
        if float((size * step).abs().max()) < _TOLERANCE:
            break
    values = weights.cpu().numpy()
    return values[:-1], values[-1]


def _minimum(
    torch: ModuleType, features: Tensor, signs: Tensor, costs: Tensor, weights: Tensor
) -> Tensor:
    """Return where the loss would be lowest if the same items stayed within the margin."""
    within = costs * (signs * (features @ weights) < 1)
    diagonal = torch.eye(features.shape[1], dtype=features.dtype, device=features.device)
    curved = torch.stack(
        [diagonal + 2 * features.T @ (features * own[:, None]) for own in within.unbind(dim=1)]
    )
    sums = 2 * features.T @ (within * signs)
    return torch.linalg.solve(curved, sums.T[..., None])[..., 0].T


def _loss(features: Tensor, signs: Tensor, costs: Tensor, weights: Tensor) -> Tensor:
    slack = (1 - signs * (features @ weights)).clamp(min=0)
    return (weights**2).sum(dim=0) / 2 + (costs * slack**2).sum(dim=0)
