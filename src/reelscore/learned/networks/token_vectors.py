"""Vectors of the tokens of texts, by one layer of an encoder from a folder."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import default_device, need
from reelscore.errors import DataError
from reelscore.learned.networks.bert import Array, Bert, Config, of_one_length
from reelscore.learned.networks.encoders import (
    check_vectors,
    load_encoder,
    loading,
    most_tokens,
    read_config,
)
from reelscore.learned.networks.sentence_vectors import read_bert
from reelscore.learned.networks.token_lists import TextTokens, TokenBatch, TokenLists, ranges
from reelscore.text.wordpiece import PackagePieces, WordPieces, open_tokenizer

Rows = Callable[[TokenBatch], Array]

_TOKENS = 1024  # of a batch

# The layers that agree best with people, as published with BERTScore: by kind and number of layers.
_BEST_LAYERS = {
    ("bert", 12): 9,
    ("bert", 24): 18,
    ("roberta", 12): 10,
    ("roberta", 24): 17,
    ("distilbert", 6): 5,
    ("xlm-roberta", 12): 9,
    ("xlm-roberta", 24): 17,
    ("deberta", 48): 40,
}


class TokenVectors(NamedTuple):
    """Vectors of unit length; text k has the rows from ``offsets[k]`` to ``offsets[k + 1]``.

    The tokens at its ends are marks, not words. ``cut`` has the numbers of texts that fill all that
    the encoder reads.
    """

    vectors: NDArray[np.float32]
    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]
    cut: list[int]


class TokenEncoder:
    """Texts to vectors of their tokens, without padding and torch where it is a BERT or RoBERTa."""

    def __init__(self, folder: Path, layer: int | None) -> None:
        config = read_config("bertscore", folder)
        self.layer = effective_layer(folder, layer)
        self._prefix = " " if config.get("model_type") == "roberta" else ""
        self._what = f"bertscore: {folder}"
        with loading(self._what):
            self._rows, self._tokenizer = _plain_bert(folder, self.layer) or _any_encoder(
                folder, self.layer
            )
            self._most = _most_tokens(folder, config)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of the texts' tokens."""
        ids, _, lengths = self._tokens(texts, 1).all()
        return [own.tolist() for own in np.split(ids, np.cumsum(lengths)[:-1])]

    def _tokens(self, texts: Sequence[str], threads: int) -> TokenLists:
        stripped = [text.strip() for text in texts]
        return TextTokens(self._tokenizer, self._most).singles(
            [self._prefix + text if text else "" for text in stripped], threads
        )

    def __call__(self, texts: Sequence[str], threads: int = 1) -> TokenVectors:
        """Return the vectors of texts."""
        tokens = self._tokens(texts, threads)
        lengths = tokens.lengths
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        parts = list(of_one_length(lengths, _TOKENS))
        batches = map(tokens.take, parts)
        vectors = np.zeros((0, 0), np.float32)
        # a batch to each thread: threads that share every product would wait for each other
        with (
            loading(self._what, failure="cannot be used"),
            ThreadPoolExecutor(max(1, min(threads, len(parts)))) as pool,
        ):
            for part, rows in zip(parts, pool.map(self._rows, batches), strict=True):
                if not vectors.size:
                    vectors = np.empty((int(offsets[-1]), rows.shape[1]), np.float32)
                vectors[ranges(offsets[part], lengths[part])] = rows / np.linalg.norm(
                    rows, axis=1, keepdims=True
                )
            check_vectors(vectors)
        cut = np.flatnonzero(lengths == self._most).tolist()
        return TokenVectors(vectors, tokens.all().ids, offsets, cut)


token_encoder = lru_cache(maxsize=2)(TokenEncoder)


def effective_layer(folder: Path, layer: int | None) -> int:
    """Return the layer that is used: the one asked for, the best known one, or the last."""
    config = read_config("bertscore", folder)
    count = config.get("num_hidden_layers") or config.get("n_layers")
    if not isinstance(count, int):
        raise DataError(f"bertscore: {folder}: config.json does not say how many layers there are.")
    if layer is None:
        return _BEST_LAYERS.get((str(config.get("model_type")), count), count)
    if not 0 <= layer <= count:
        raise DataError(
            f"bertscore: {folder}: layer {layer}; expected 0 (the embeddings) to {count}."
        )
    return layer


def rarity(metric: str, texts: Sequence[Iterable[int]]) -> dict[int, float]:
    """Weigh the tokens of references by how few of them have each (idf).

    >>> rarity("bertscore", [[1, 2], [1, 3], [1]])
    {1: 0.0, 2: 0.6931471805599453, 3: 0.6931471805599453}
    """
    counts = Counter(token for own in texts for token in set(own))
    weights = {k: math.log((len(texts) + 1) / (count + 1)) for k, count in counts.items()}
    if texts and not any(weights.values()):
        raise DataError(
            f"{metric}: idf:yes lets words that few references have weigh more, and here all "
            f"references have the same words; give more, or let all weigh the same: "
            f"{metric}|idf:no."
        )
    return weights


def _most_tokens(folder: Path, config: Config) -> int:
    """How many tokens of a text are read: what the tokenizer says, if the encoder has as many."""
    places = most_tokens(config, config.get("max_position_embeddings", 512))
    settings = folder / "tokenizer_config.json"
    if settings.is_file():
        said = json.loads(settings.read_text(encoding="utf-8")).get("model_max_length", places)
        places = min(places, int(said))
    return max(3, int(places))


def _plain_bert(folder: Path, layer: int) -> tuple[Rows, WordPieces | PackagePieces] | None:
    """Open a BERT or RoBERTa without transformers, which takes seconds to import."""
    if (local := read_bert(folder, ("bert", "roberta"), layer)) is None:
        return None
    kept, config = local
    if config["model_type"] == "roberta":  # its first places are never used
        places = "embeddings.position_embeddings.weight"
        kept[places] = kept[places][config.get("pad_token_id", 1) + 1 :]
    opened: Any = Bert(kept, config, "float32", "tokens")
    if default_device() == "cuda":
        from reelscore.learned.networks import bert_torch

        opened = bert_torch.TorchBert(kept, config, "float32", "tokens", device="cuda")
    return opened.rows, open_tokenizer(folder / "tokenizer.json")


def _any_encoder(folder: Path, layer: int) -> tuple[Rows, PackagePieces]:
    """Open any other encoder by transformers."""
    torch = need("torch")
    model, tokenizer = load_encoder(str(folder))
    device = default_device()
    model.to(device).eval()

    def rows(batch: TokenBatch) -> Array:
        with torch.inference_mode():
            ids, _, mask = (torch.from_numpy(array).to(device) for array in batch.padded())
            answer = model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
            vectors: Array = answer.hidden_states[layer][mask.bool()].cpu().numpy()
        return vectors

    return rows, tokenizer
