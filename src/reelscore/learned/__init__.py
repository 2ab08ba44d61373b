"""Metrics learned from human judgments: BERTHA, fusion of metrics, sentence similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.learned.bertha import Bertha
    from reelscore.learned.ensemble import Ensemble, fit_ensemble
    from reelscore.learned.fusion import Coefficients, Fusion, fit_fusion
    from reelscore.learned.judged_captions import (
        JudgedCaption,
        from_tables,
        read_captions,
        write_captions,
    )
    from reelscore.learned.model_files import ModelInfo, export_model, read_info
    from reelscore.learned.pair_scores import PairScorer, predict_captions
    from reelscore.learned.sts import Sts
    from reelscore.learned.training.held_out import Overlap, Split, hold_out
    from reelscore.learned.training.model import fit_model
    from reelscore.learned.training.recipes import Recipe, Stage, recipe_of
    from reelscore.learned.trecvid import load_captions

__all__ = [
    "Bertha",
    "Coefficients",
    "Ensemble",
    "Fusion",
    "JudgedCaption",
    "ModelInfo",
    "Overlap",
    "PairScorer",
    "Recipe",
    "Split",
    "Stage",
    "Sts",
    "export_model",
    "fit_ensemble",
    "fit_fusion",
    "fit_model",
    "from_tables",
    "hold_out",
    "load_captions",
    "predict_captions",
    "read_captions",
    "read_info",
    "recipe_of",
    "write_captions",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "learned.bertha": "Bertha",
        "learned.ensemble": "Ensemble fit_ensemble",
        "learned.fusion": "Coefficients Fusion fit_fusion",
        "learned.judged_captions": "JudgedCaption from_tables read_captions write_captions",
        "learned.model_files": "ModelInfo export_model read_info",
        "learned.pair_scores": "PairScorer predict_captions",
        "learned.sts": "Sts",
        "learned.training.held_out": "Overlap Split hold_out",
        "learned.training.model": "fit_model",
        "learned.training.recipes": "Recipe Stage recipe_of",
        "learned.trecvid": "load_captions",
    },
)
