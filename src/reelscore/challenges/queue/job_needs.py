"""What a worker must have for a job: models and a device, as words that are compared."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

_LEARNED = ("bertha", "sts", "fusion", "ensemble", "bertscore")


def needs_of(settings: Mapping[str, Any]) -> str:
    """Return what scoring with some settings needs, separated by spaces; empty for nothing.

    >>> needs_of({"kind": "captions", "metrics": ["cider", "bertha|seed:1"], "device": "cuda"})
    'bertha cuda'
    >>> needs_of({"kind": "captions", "metrics": ["cider"], "device": "cuda"})
    ''
    """
    names = {str(metric).partition("|")[0] for metric in settings.get("metrics", ())}
    needs = {name for name in names if name in _LEARNED}
    if needs:  # a GPU and a processor round differently; other metrics are the same on any machine
        needs.add(settings.get("device", "cpu"))
    return " ".join(sorted(needs))


def capabilities(device: str = "cpu") -> frozenset[str]:
    """Return what this process can do: the models that are installed, and its device."""
    found = {device}
    if importlib.util.find_spec("onnxruntime") is not None:
        found |= {"bertha", "sts", "fusion", "ensemble"}
    if importlib.util.find_spec("torch") is not None:
        found.add("bertscore")
    return frozenset(found)


def is_able(able: Iterable[str], needs: str) -> bool:
    """Return whether a worker has all that a job needs.

    >>> is_able({"bertha"}, ""), is_able({"bertha"}, "bertha cuda")
    (True, False)
    """
    return set(needs.split()) <= set(able)
