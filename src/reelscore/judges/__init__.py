"""Judges: metrics that ask a large model, from the user's folder or behind an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.judges.bertscore import BertScore
    from reelscore.judges.judge import Judge
    from reelscore.judges.prompts import Prompt, prompt_names, read_prompt

__all__ = ["BertScore", "Judge", "Prompt", "prompt_names", "read_prompt"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "judges.bertscore": "BertScore",
        "judges.judge": "Judge",
        "judges.prompts": "Prompt prompt_names read_prompt",
    },
)
