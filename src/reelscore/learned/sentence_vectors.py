"""Sentence vectors of an encoder: the mean over tokens, of unit length."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.bert import in_parts, open_bert
from reelscore.learned.cross_encoder import padded
from reelscore.learned.encoders import (
    DEFAULT_ENCODER,
    default_device,
    encoder_folder,
    load_encoder,
    need,
)
from reelscore.text.wordpiece import open_tokenizer

FloatArray = NDArray[np.float64]
Rows = Callable[[Sequence[Any], int], FloatArray]

_NUMBERS = {"F16", "F32"}  # types of weights that numpy has


class SentenceEncoder:
    """Texts to unit vectors, each text once.

    Args:
        encoder: By name or path. A BERT needs no torch, unless it is to run on a GPU.
        device: ``cuda`` or ``cpu``; by default a GPU if torch has one.
        max_length: Tokens of a text; more are cut off.
    """

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, device: str | None = None, max_length: int = 256
    ) -> None:
        self.device = device or default_device()
        self._rows, self.tokenizer = _local_bert(
            Path(encoder_folder(encoder)), self.device
        ) or _any_encoder(encoder, self.device)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)

    def __call__(self, texts: Sequence[str], threads: int = 1) -> FloatArray:
        """Give a row for each text.

        Args:
            texts: The texts.
            threads: How many threads to use on the processor.
        """
        place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        rows = self._rows(self.tokenizer.encode_batch(list(place)), threads)
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        result: FloatArray = rows[[place[text] for text in texts]]
        return result


def _local_bert(folder: Path, device: str) -> tuple[Rows, Any] | None:
    """Open a BERT in a folder, without transformers, which takes seconds to import."""
    weights, config = folder / "model.safetensors", folder / "config.json"
    tokenizer = folder / "tokenizer.json"
    if not (weights.is_file() and config.is_file() and tokenizer.is_file()):
        return None
    fields = json.loads(config.read_text(encoding="utf-8"))
    if fields.get("model_type") != "bert" or fields.get("hidden_act") != "gelu":
        return None
    tensors = {}
    with need("safetensors").safe_open(weights, "np") as file:
        for name in file.keys():  # noqa: SIM118
            if name.startswith("pooler.") or name.endswith("position_ids"):
                continue
            if file.get_slice(name).get_dtype() not in _NUMBERS:
                return None
            tensors[name] = file.get_tensor(name)
    return (
        open_bert(tensors, fields, "float32", "mean", (), device),
        open_tokenizer(tokenizer),
    )


def _any_encoder(encoder: str, device: str) -> tuple[Rows, Any]:
    """Open any encoder by transformers."""
    torch = need("torch")
    model, tokenizer = load_encoder(encoder)
    model.to(device).eval()

    def rows(texts: Sequence[Any], threads: int) -> FloatArray:
        from reelscore.learned.bert_torch import by_length

        def means(batch: Sequence[Any]) -> NDArray[Any]:
            with torch.inference_mode():
                ids, _, mask = (torch.from_numpy(array).to(device) for array in padded(batch))
                hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
                sums = (hidden * mask[:, :, None]).sum(dim=1)
                vectors: NDArray[Any] = sums.double().cpu().numpy()
            return vectors

        return in_parts(means, texts, list(by_length([len(text.ids) for text in texts])), 1)

    return rows, tokenizer
