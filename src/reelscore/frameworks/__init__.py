"""Scores inside training frameworks: torchmetrics, Lightning, Transformers, evaluate.

Each module needs its framework, and is imported by its own name: `torchmetrics.CaptionMetric`,
`transformers.CaptionScores`, `lightning.CaptionScores`.
"""

from __future__ import annotations

from pathlib import Path

from reelscore.frameworks.distributed import gather

__all__ = ["evaluate_module", "gather"]


def evaluate_module() -> str:
    """Return the path of the module for Hugging Face's evaluate: ``evaluate.load`` takes it.

    >>> Path(evaluate_module()).name
    'hf_evaluate.py'
    """
    return str(Path(__file__).with_name("hf_evaluate.py"))
