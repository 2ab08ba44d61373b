"""Judges: metrics that ask a large model, from the user's folder or behind an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.judges.bertscore import BertScore
    from reelscore.judges.clipscore import ClipScore
    from reelscore.judges.emscore import EmScore
    from reelscore.judges.judge import Judge
    from reelscore.judges.prompts import Prompt, prompt_names, read_prompt
    from reelscore.judges.refclipscore import RefClipScore

__all__ = [
    "BertScore",
    "ClipScore",
    "EmScore",
    "Judge",
    "Prompt",
    "RefClipScore",
    "prompt_names",
    "read_prompt",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "judges.bertscore": "BertScore",
        "judges.clipscore": "ClipScore",
        "judges.emscore": "EmScore",
        "judges.judge": "Judge",
        "judges.prompts": "Prompt prompt_names read_prompt",
        "judges.refclipscore": "RefClipScore",
    },
)
