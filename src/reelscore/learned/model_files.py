"""A model in the form transformers reads: single precision, ``config.json`` and a head beside."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from reelscore._cache import cache_directory
from reelscore._packages import need
from reelscore.data.atomic_files import make_folder, write_atomically
from reelscore.errors import DataError, MissingExtraError
from reelscore.learned.networks.bert import Config, Tensors, in_bytes, unpacked
from reelscore.learned.networks.encoders import loading
from reelscore.metrics.training_data import TrainingItems
from reelscore.text.wordpiece import open_tokenizer


def export_model(model: str, folder: str | Path) -> list[Path]:
    """Write the encoder as transformers has it, head and scales beside it; return the files.

    Args:
        model: The shipped model's name, or a folder.
        folder: The folder to write to, created if needed.
    """
    info, tensors, tokenizer = read_weights(model)
    home = Path(folder)
    make_folder(home)
    parts: dict[str, Tensors] = {}
    for name in tensors:
        if not name.endswith(".scale"):
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = unpacked(tensors, name)
    save = need("safetensors.numpy").save
    names = {"encoder": "model", "head": "head", "similarity": "similarity"}
    files = {part: home / f"{names[part]}.safetensors" for part in parts}
    for part, path in files.items():
        write_atomically(path, save(parts[part], {"format": "pt"}))
    tokenizer.save(str(home / "tokenizer.json"))
    scales = {
        "to_z": info.to_z,
        "to_percent": info.to_percent,
        "similarity": info.similarity,
        "max_length": info.max_length,
    }
    for name, content in (("config.json", info.encoder), ("scales.json", scales)):
        write_atomically(home / name, json.dumps(content, indent=1) + "\n")
    return [*files.values(), *(home / f"{n}.json" for n in ("tokenizer", "config", "scales"))]


Facts = dict[str, Any]  # what made a model, and what came of it, as its JSON has them
SHIPPED, SMALL = "reelscore-bertha", "reelscore-bertha-small"
_PACKAGE = "reelscore_bertha"
_IN_PACKAGE = {SHIPPED: "", SMALL: "small"}  # folders
_INFO, _WEIGHTS, _TOKENIZER = "model.json", "weights.safetensors", "tokenizer.json"
_ITEMS, _HELD_OUT = "training_items.json", "held_out"
EMBEDDINGS = "encoder.embeddings."
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")


@dataclass(frozen=True)
class ModelInfo:
    """What is known of a model beside its weights.

    Attributes:
        name: Its name.
        encoder: Configuration of the encoder, as transformers writes it.
        max_length: Tokens of candidate and reference together; more are cut off.
        to_z: Intercept and slope from the network's score to people's standardised score.
        to_percent: Intercept and slope from that to people's score on 0–100.
        similarity: How much the cosine of the texts' vectors counts beside the network's score. If
            at all, the weights have the sentence encoder too, an encoder of the same shape.
        training: Data, recipe, seed, and what else made it.
        agreement: Correlations with people, measured with the group held out.
        embeddings_of: Revision of the shipped model, if its embeddings, its tokenizer and its
            training items are this model's too.
        sha256: Of the weights; empty before they are written.
    """

    name: str
    encoder: Config
    max_length: int
    to_z: tuple[float, float] = (0.0, 1.0)
    to_percent: tuple[float, float] = (50.0, 40.0)
    similarity: float = 0.0
    training: Facts = field(default_factory=dict)
    agreement: Facts = field(default_factory=dict)
    embeddings_of: str = ""
    sha256: str = ""

    @property
    def revision(self) -> str:
        """The first digits of the hash of the weights."""
        return self.sha256[:8]


def model_folder(name: str) -> Path:
    """Find a model: the shipped ones by name, another by its folder."""
    if name in _IN_PACKAGE:
        spec = find_spec(_PACKAGE)
        if spec is None or spec.origin is None:
            raise MissingExtraError.of(
                "bertha needs trained weights, or a folder that 'reelscore bertha train' wrote",
                "reelscore[learned]",
                "reelscore-bertha",
            )
        return Path(spec.origin).parent / _IN_PACKAGE[name]
    folder = Path(name)
    files = [folder, *(folder.iterdir() if folder.is_dir() else ())]
    if any(path.suffix in _PICKLES for path in files):
        raise DataError(
            f"{name}: pickled weights can run code when they are opened and are refused; "
            "expected safetensors, as 'reelscore bertha info --export' writes them."
        )
    if not (folder / _INFO).is_file():
        raise DataError(
            f"{name}: not a model; expected {', '.join(_IN_PACKAGE)}, or a folder with {_INFO} and "
            f"{_WEIGHTS}."
        )
    return folder


def read_info(name: str) -> ModelInfo:
    """Read what is known of a model.

    Args:
        name: The name of a shipped model, or the folder of another.

    Raises:
        DataError: If the file is damaged.
    """
    path = model_folder(name) / _INFO
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        pairs = {key: tuple(fields[key]) for key in ("to_z", "to_percent")}
        return ModelInfo(**{**fields, **pairs, "max_length": int(fields["max_length"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{path}: cannot be read as the description of a model: {error}."
        ) from error


cached_info = lru_cache(maxsize=8)(read_info)


@lru_cache(maxsize=8)
def read_training_items(name: str) -> TrainingItems | None:
    """Read the hashes of the items a model was trained on; ``None`` where it does not have them."""
    path = model_folder(SHIPPED if cached_info(name).embeddings_of else name) / _ITEMS
    if not path.is_file():
        return None
    try:
        return TrainingItems.decoded(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as hashes of training items: {error}.") from error


def held_out_folder(name: str, group: str) -> Path | None:
    """Find the weights of a model that was trained like another, but without a group.

    They lie in the model's folder under ``held_out``, or in the cache directory, where ``reelscore
    bertha train --hold-out GROUP --keep`` puts them for the shipped model.
    """
    homes = [model_folder(name), *([kept_models()] if name == SHIPPED else [])]
    return next((f for home in homes if (f := home / _HELD_OUT / group).is_dir()), None)


def kept_models() -> Path:
    """Return where models are kept that were trained like the shipped one, but without a group."""
    return cache_directory() / "bertha"


def keep_held_out(folder: str | Path, group: str) -> Path:
    """Copy a model to where ``bertha|held_out:GROUP`` looks for it."""
    trained_without = read_info(str(folder)).training.get("held out")
    if trained_without != group:
        raise DataError(f"{folder}: trained without {trained_without!r}, not without {group!r}.")
    place = kept_models() / _HELD_OUT / group
    try:
        shutil.copytree(folder, place, dirs_exist_ok=True)
    except OSError as error:
        raise DataError(f"{place}: the model cannot be kept there ({error}).") from error
    return place


def read_weights(name: str) -> tuple[ModelInfo, Tensors, Any]:
    """Read a model: its description, its weights, and its tokenizer."""
    info, folder = read_info(name), model_folder(name)
    with loading(str(folder), "Copy or install the whole model again."):
        tensors = _read_tensors(folder, info)
        if not info.embeddings_of:
            return info, tensors, open_tokenizer(folder / _TOKENIZER)
    whole, others, tokenizer = read_weights(SHIPPED)
    if whole.revision != info.embeddings_of:
        raise DataError(
            f"{folder}: made for the embeddings of {SHIPPED} {info.embeddings_of}…; the one "
            f"installed is {whole.revision}…. Install the model again."
        )
    shared = {key: value for key, value in others.items() if key.startswith(EMBEDDINGS)}
    return info, {**shared, **tensors}, tokenizer


def _read_tensors(folder: Path, info: ModelInfo) -> Tensors:
    data = (folder / _WEIGHTS).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != info.sha256:
        raise DataError(
            f"{folder / _WEIGHTS}: SHA-256 {digest[:8]}…, expected {info.revision}…: the file is "
            "damaged or not the one that was trained; install the model again."
        )
    safetensors = need("safetensors")
    try:
        tensors: Tensors = need("safetensors.numpy").load(data)
    except safetensors.SafetensorError as error:
        raise DataError(f"{folder / _WEIGHTS}: damaged ({error}).") from error
    return tensors


def write_model(
    folder: str | Path,
    state: dict[str, Any],
    tokenizer: Any,
    info: ModelInfo,
    items: TrainingItems | None = None,
) -> ModelInfo:
    """Write a model; matrices are rounded to bytes, row by row."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    tensors: Tensors = {}
    for name, weights in state.items():
        if ".pooler." in name:
            continue  # the head takes the first token itself
        value = np.ascontiguousarray(weights)
        if value.ndim == 2 and value.shape[0] > 1:
            tensors[name], tensors[f"{name}.scale"] = in_bytes(value)
        else:
            tensors[name] = value.astype(np.float16)
    tokenizer.save(str(home / _TOKENIZER))
    if items is not None:
        write_training_items(home, items)
    return write_tensors(home, tensors, info)


def write_tensors(folder: Path, tensors: Tensors, info: ModelInfo) -> ModelInfo:
    """Write weights as they are, and the description, which gets their hash."""
    data = need("safetensors.numpy").save(tensors)
    info = replace(info, sha256=hashlib.sha256(data).hexdigest())
    (folder / _WEIGHTS).write_bytes(data)
    text = json.dumps(asdict(info), indent=1, ensure_ascii=False)
    (folder / _INFO).write_text(text + "\n", encoding="utf-8")
    return info


def write_training_items(folder: str | Path, items: TrainingItems) -> None:
    """Write the hashes of the items a model was trained on into its folder."""
    text = json.dumps(items.encoded(), indent=1)
    (Path(folder) / _ITEMS).write_text(text + "\n", encoding="utf-8")
