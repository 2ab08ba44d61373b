"""Packages that are not always installed, and the device that torch computes on."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from reelscore.errors import MissingExtraError

_SCORING = {"onnxruntime", "safetensors"}  # enough to score; the rest is for training


def need(
    module: str, extra: str = "", who: str = "Learned metrics need", called: str = ""
) -> ModuleType:
    """Import an optional package, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        scoring = module.partition(".")[0] in _SCORING
        usual = "reelscore[learned]" if scoring else "reelscore[torch]"
        raise MissingExtraError.of(f"{who} {called or module}", extra or usual) from error


@cache
def default_device() -> str:
    """Return ``cuda`` where torch is installed and has a GPU, else ``cpu``.

    The driver is asked first: torch takes seconds to import, and is not needed on a processor.
    """
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return "cpu"
    if find_spec("torch") is None:
        return "cpu"
    return "cuda" if need("torch").cuda.is_available() else "cpu"
