"""Sentence vectors of an encoder: the mean over tokens, of unit length."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from reelscore._packages import default_device, need
from reelscore.learned.networks.bert import Config, FloatArray, Tensors, in_parts, open_bert
from reelscore.learned.networks.encoders import (
    DEFAULT_ENCODER,
    check_layers,
    check_vectors,
    encoder_folder,
    load_encoder,
    loading,
    most_tokens,
)
from reelscore.learned.networks.token_lists import TextTokens, TokenBatch, TokenLists
from reelscore.text.wordpiece import PackagePieces, WordPieces, open_tokenizer

Embedding = Callable[[Sequence[str]], FloatArray]
Rows = Callable[[TokenLists, int], FloatArray]

_NUMBERS = {"F16", "F32"}  # types of weights that numpy has


class SentenceEncoder:
    """Texts to unit vectors, each text once."""

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, device: str | None = None, max_length: int = 256
    ) -> None:
        self.device = device or default_device()
        self._what = f"The encoder {encoder!r}"
        with loading(self._what):
            self._rows, self._tokenizer, config = _local_bert(
                Path(encoder_folder(encoder)), self.device
            ) or _any_encoder(encoder, self.device)
            self._most = most_tokens(config, max_length)

    def __call__(self, texts: Sequence[str], threads: int = 1) -> FloatArray:
        """Return a row for each text."""
        place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        with loading(self._what, failure="cannot be used"):
            tokens = TextTokens(self._tokenizer, self._most).singles(list(place), threads)
            rows = unit(self._rows(tokens, threads))
            check_vectors(rows)
        result: FloatArray = rows[[place[text] for text in texts]]
        return result


def unit(rows: FloatArray) -> FloatArray:
    """Return rows the length 1.

    >>> unit(np.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    scaled: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def cosines(first: Sequence[str], second: Sequence[str], embedding: Embedding) -> FloatArray:
    """Compare texts pair by pair: the cosines of their vectors, each text embedded once.

    >>> cosines(["a", "b"], ["b", "b"], lambda texts: np.eye(2)[["ab".index(t) for t in texts]])
    array([0., 1.])
    """
    texts = list(dict.fromkeys([*first, *second]))
    place = {text: k for k, text in enumerate(texts)}
    vectors = embedding(texts)
    one, two = (vectors[[place[text] for text in side]] for side in (first, second))
    products: FloatArray = (one * two).sum(axis=1)
    return products


def _local_bert(
    folder: Path, device: str
) -> tuple[Rows, WordPieces | PackagePieces, Config] | None:
    """Open a BERT in a folder, without transformers, which takes seconds to import."""
    if (local := read_bert(folder)) is None:
        return None
    tensors, fields = local
    rows = open_bert(tensors, fields, "float32", "mean", (), device)
    return rows, open_tokenizer(folder / "tokenizer.json"), fields


def read_bert(
    folder: Path, kinds: Sequence[str] = ("bert",), layers: int | None = None
) -> tuple[Tensors, Config] | None:
    """Read a BERT of some kind, its first layers or all; None if the folder has no such."""
    weights, config, tokenizer = (
        folder / name for name in ("model.safetensors", "config.json", "tokenizer.json")
    )
    if not (weights.is_file() and config.is_file() and tokenizer.is_file()):
        return None
    fields = json.loads(config.read_text(encoding="utf-8"))
    kind, places = fields.get("model_type"), fields.get("position_embedding_type", "absolute")
    if kind not in kinds or fields.get("hidden_act") != "gelu" or places != "absolute":
        return None
    count = fields["num_hidden_layers"] if layers is None else layers
    tensors = {}
    with need("safetensors").safe_open(weights, "np") as file:
        for name in file.keys():  # noqa: SIM118
            own = name.removeprefix(f"{kind}.")
            own = own.replace("LayerNorm.gamma", "LayerNorm.weight")
            own = own.replace("LayerNorm.beta", "LayerNorm.bias")
            part, _, rest = own.partition("encoder.layer.")
            above = not part and int(rest.partition(".")[0]) >= count
            if above or part.startswith(("pooler.", "cls.", "lm_head.")) or "position_ids" in own:
                continue
            if file.get_slice(name).get_dtype() not in _NUMBERS:
                return None
            tensors[own] = file.get_tensor(name)
    if "embeddings.LayerNorm.weight" not in tensors:  # part of a larger model
        return None
    check_layers(tensors, count)
    return tensors, fields


def _any_encoder(encoder: str, device: str) -> tuple[Rows, PackagePieces, Config]:
    """Open any encoder by transformers."""
    torch = need("torch")
    model, tokenizer = load_encoder(encoder)
    model.to(device).eval()

    def rows(texts: TokenLists, threads: int) -> FloatArray:
        from reelscore.learned.networks.bert_torch import by_length

        def means(batch: TokenBatch) -> FloatArray:
            with torch.inference_mode():
                ids, _, mask = (torch.from_numpy(array).to(device) for array in batch.padded())
                hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
                sums = (hidden * mask[:, :, None]).sum(dim=1)
                vectors: FloatArray = sums.double().cpu().numpy()
            return vectors

        return in_parts(means, texts, list(by_length(texts.lengths)), 1)

    return rows, tokenizer, model.config.to_dict()
