"""CLIP from a folder: vectors of texts and of the frames of videos, the latter kept on disk."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._cache import cache_directory, keep_in_cache
from reelscore._packages import default_device, need
from reelscore.errors import DataError
from reelscore.learned.networks.bert import of_one_length
from reelscore.learned.networks.encoders import (
    check_vectors,
    load_weights,
    loading,
    read_config,
    weights_hash,
)
from reelscore.text.words import CaptionBatch
from reelscore.video.frames import Sampling, find_videos, read_frames, video_key

Vectors = NDArray[np.float32]

_EXTRA = "reelscore[torch]"
_PICTURES = 32  # of a batch
_TOKENS = 2048
_SETTINGS = "preprocessor_config.json"


class TextVectors(NamedTuple):
    """Vectors of a text, of unit length."""

    tokens: Vectors  # one for each token, with those at the beginning and the end
    whole: Vectors  # that of the text
    ids: list[int]  # the tokens
    cut: bool = False  # whether it fills all that the model reads


class ClipModel:
    """A CLIP of transformers."""

    def __init__(self, folder: Path) -> None:
        transformers = need("transformers", _EXTRA)
        need("torch", _EXTRA)
        self.device = default_device()
        tokenizer = folder / "tokenizer.json"
        if not tokenizer.is_file():
            raise DataError(f"{folder}: there is no tokenizer; expected tokenizer.json.")
        self._what = str(folder)
        with loading(self._what):
            self._model = load_weights(transformers.CLIPModel, folder, local_files_only=True)
            self._tokenizer = need("tokenizers", _EXTRA).Tokenizer.from_file(str(tokenizer))
            self._pictures = _preparation(folder, self._model.config.vision_config.image_size)
        self._model.to(self.device).eval()
        self._tokenizer.no_padding()
        self.most_tokens = int(self._model.config.text_config.max_position_embeddings)
        self._tokenizer.enable_truncation(self.most_tokens)
        self.key = weights_hash(folder)
        for settings in (folder / "config.json", folder / _SETTINGS):
            if settings.is_file():
                self.key += f"-{hashlib.sha256(settings.read_bytes()).hexdigest()[:8]}"

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut texts into tokens, with the marks at both ends."""
        return [each.ids for each in self._tokenizer.encode_batch(list(texts))]

    def texts(self, texts: Sequence[str]) -> dict[str, TextVectors]:
        """Return the vectors of texts, each once."""
        torch = need("torch", _EXTRA)
        once = list(dict.fromkeys(texts))
        ids = self.token_ids(once)
        vectors: dict[str, TextVectors] = {}
        for part in of_one_length(np.array([len(each) for each in ids], np.int64), _TOKENS):
            with self._used(), torch.inference_mode():
                batch = torch.tensor([ids[k] for k in part], device=self.device)
                hidden = self._model.text_model(input_ids=batch).last_hidden_state
                rows = self._unit(self._model.text_projection(hidden))
            # the last token is the mark of the end, whose vector stands for the text
            vectors |= {
                once[k]: TextVectors(row, row[-1], ids[k], len(ids[k]) == self.most_tokens)
                for k, row in zip(part, rows, strict=True)
            }
        return vectors

    def pictures(self, pictures: Sequence[NDArray[np.uint8]]) -> Vectors:
        """Return the vectors of pictures, of unit length."""
        torch = need("torch", _EXTRA)
        rows = []
        for begin in range(0, len(pictures), _PICTURES):
            ready = np.stack([self._pictures(each) for each in pictures[begin : begin + _PICTURES]])
            with self._used(), torch.inference_mode():
                pixels = torch.from_numpy(ready).to(self.device)
                pooled = self._model.vision_model(pixel_values=pixels).pooler_output
                rows.append(self._unit(self._model.visual_projection(pooled)))
        return np.concatenate(rows)

    def _used(self) -> AbstractContextManager[None]:
        """Return in one message what goes wrong in the network."""
        return loading(self._what, failure="cannot be used")

    def _unit(self, vectors: Any) -> Vectors:
        """Return vectors the length 1."""
        rows: Vectors = need("torch").nn.functional.normalize(vectors, dim=-1).cpu().numpy()
        check_vectors(rows)
        return rows

    def video(self, video: Path, frames: int) -> Vectors:
        """Return the vectors of a video's frames; computed once, and then read from the cache."""
        name = f"{video_key(video).replace('#', '_')}-{frames}.npy"
        kept = cache_directory() / "clip" / self.key / name
        try:
            vectors: Vectors = np.load(kept)
            return vectors
        except (OSError, ValueError, EOFError):  # not there, or damaged
            pass
        vectors = self.pictures(read_frames(video, Sampling(frames, side=0)).pictures)
        file = io.BytesIO()
        np.save(file, vectors)
        keep_in_cache(kept, file.getvalue())
        return vectors


def clip_model(metric: str, folder: str) -> ClipModel:
    """Load a model once, whichever metrics use it."""
    if not folder:
        raise DataError(
            f"{metric}: no model is named. Models are never downloaded: fetch a CLIP, such as "
            f"clip-vit-base-patch32, and name its folder: {metric}|model:FOLDER|videos:FOLDER."
        )
    kind = read_config(metric, Path(folder)).get("model_type")
    if kind != "clip":
        raise DataError(
            f"{metric}: {folder}: a model of type {kind!r}; expected a CLIP of transformers "
            "('clip')."
        )
    try:
        return _loaded(Path(folder))
    except DataError as error:
        raise DataError(f"{metric}: {error}") from error


_loaded = lru_cache(maxsize=2)(ClipModel)


def check_videos(metric: str, folder: str | None) -> None:
    """Complain where no folder of videos is named."""
    if folder is None:
        raise DataError(
            f"{metric}: no videos are named; name their folder, with a file for each item: "
            f"{metric}|videos:FOLDER."
        )


def frame_vectors(
    metric: str, batch: CaptionBatch, model: ClipModel, folder: str, frames: int
) -> Mapping[int, Vectors]:
    """Return the vectors of the frames of each item's video, by the item's number."""
    numbers = sorted(set(batch.items.tolist()))
    if not batch.ids:
        raise DataError(
            f"{metric}: which items the captions belong to is not known here; use reelscore.score."
        )
    videos = find_videos(folder, [batch.ids[number] for number in numbers])
    vectors = {}
    for done, number in enumerate(numbers, start=1):
        vectors[number] = model.video(videos[batch.ids[number]], frames)
        if batch.progress is not None:
            batch.progress(len(batch.items) * done // len(numbers), len(batch.items))
    return vectors


def _preparation(folder: Path, side: int) -> Any:
    """Return the function that makes a picture ready: its middle, at the size and range CLIP wants.

    It does what the image processor of transformers does, which needs torchvision in some versions.
    """
    image = need("PIL.Image", _EXTRA)
    fields: dict[str, Any] = {}
    settings = folder / _SETTINGS
    if settings.is_file():
        fields = json.loads(settings.read_text(encoding="utf-8"))
    mean, spread = (
        np.array(fields.get(name, default), np.float32).reshape(3)  # one of each colour
        for name, default in (
            ("image_mean", [0.48145466, 0.4578275, 0.40821073]),
            ("image_std", [0.26862954, 0.26130258, 0.27577711]),
        )
    )

    def prepared(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
        height, width = picture.shape[:2]
        scale = side / min(height, width)
        size = [
            side if length == min(height, width) else int(length * scale)
            for length in (width, height)
        ]
        small = image.fromarray(picture).resize(size, image.Resampling.BICUBIC)
        left, top = (size[0] - side) // 2, (size[1] - side) // 2
        middle = np.asarray(small.crop((left, top, left + side, top + side)), np.float32)
        ready: NDArray[np.float32] = ((middle / 255 - mean) / spread).transpose(2, 0, 1)
        return ready

    return prepared
