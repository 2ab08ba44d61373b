"""Scores of pairs of texts by a model: each pair once, nothing padded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import default_device, need
from reelscore.errors import install_command
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.metrics.over_references import Several, over_references
from reelscore.learned.model_files import ModelInfo, read_weights
from reelscore.learned.networks.bert import (
    Config,
    Dtype,
    FloatArray,
    Layer,
    Tensors,
    open_bert,
    unpacked,
)
from reelscore.learned.networks.bert_torch import TorchBert, torch_threads
from reelscore.learned.networks.cross_encoder import CrossEncoder
from reelscore.learned.networks.sentence_vectors import Embedding, cosines, unit
from reelscore.learned.networks.token_lists import IntArray, TextTokens, TokenLists, first_of_each

_PAIRS = 4096  # whose vectors are compared at a time
_VECTORS = 20_000  # that are kept, 30 MB


class PairScorer:
    """A trained model that scores candidates against references.

    Scores do not depend on what else is scored, within 1e-5. A BERT needs no torch, unless it is
    to run on a GPU; other encoders do.

    Args:
        model: The shipped model's name, or a folder.
        dtype: ``int8`` for products of bytes, or ``float32``.
        device: ``cpu``, or ``cuda``; by default a GPU if torch has one.
    """

    def __init__(self, model: str, dtype: Dtype = "int8", device: str | None = None) -> None:
        self.info, tensors, tokenizer = read_weights(model)
        self.tokens = TextTokens(tokenizer, self.info.max_length)
        self.device = device or default_device()
        encoder, head, similarity = (
            {n.removeprefix(part): v for n, v in tensors.items() if n.startswith(part)}
            for part in ("encoder.", "head.", "similarity.")
        )
        self._rows: Callable[[TokenLists, int], FloatArray] = (
            open_bert(encoder, self.info.encoder, dtype, "first", _layers(head), self.device)
            if is_bert(self.info)
            else _AnyEncoder(self.info.encoder, encoder, head, self.tokens)
        )
        self._means = (
            open_bert(similarity, self.info.encoder, dtype, "mean", (), self.device)
            if similarity
            else None
        )
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[str],
        threads: int = 1,
        cut: set[tuple[str, str]] | None = None,
    ) -> FloatArray:
        """Score pairs on people's standardised scale; ``cut`` gets those too long to be seen."""
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} candidates, {len(references)} references")
        if not candidates:
            return np.zeros(0)
        numbers = self.tokens.numbers([*candidates, *references], threads).reshape(2, -1)
        first, place = first_of_each(numbers)
        once = numbers[:, first]
        tokens = self.tokens.framed(once)
        if cut is not None:
            cut.update((candidates[k], references[k]) for k in first[tokens.is_cut].tolist())
        own = self._rows(tokens, threads)[:, 0]
        if self.info.similarity:
            own = own + self.info.similarity * self._cosines(once, threads)
        self.tokens.forget()
        low, slope = self.info.to_z
        scores: FloatArray = low + slope * own[place]
        return scores

    def vectors(self, texts: Sequence[str], threads: int = 1) -> FloatArray | None:
        """Return vectors of unit length; ``None`` if the model has no network for them."""
        if self._means is None:
            return None
        found = self._embed(texts, threads)
        self.tokens.forget()
        return found

    def _cosines(self, pairs: IntArray, threads: int) -> FloatArray:
        """Compare the vectors of texts, some pairs at a time; vectors of many texts are large."""
        if self.device == "cuda":
            assert isinstance(self._means, TorchBert)
            numbers, places = np.unique(pairs, return_inverse=True)
            return self._means.cosines(self.tokens.framed(numbers[None]), places.reshape(2, -1))
        texts, parts = self.tokens.texts(), []
        for begin in range(0, pairs.shape[1], _PAIRS):
            numbers, places = np.unique(pairs[:, begin : begin + _PAIRS], return_inverse=True)
            vectors = self._embed([texts[k] for k in numbers.tolist()], threads)
            ones, others = places.reshape(2, -1)
            parts.append((vectors[ones] * vectors[others]).sum(axis=1))
        return np.concatenate(parts)

    def _embed(self, texts: Sequence[str], threads: int) -> FloatArray:
        """Return texts their vectors. Those of the last ones are kept: systems share references."""
        assert self._means is not None
        if len(self._vectors) + len(texts) > _VECTORS:
            self._vectors.clear()
        new = [text for text in texts if text not in self._vectors]
        if new:
            rows = unit(self._means(self.tokens.singles(new, threads), threads))
            self._vectors.update(zip(new, rows.astype(np.float32), strict=True))
        return np.array([self._vectors[text] for text in texts], dtype=np.float64)


@lru_cache(maxsize=2)
def pair_scorer(model: str, dtype: Dtype) -> PairScorer:
    """Load a model once."""
    return PairScorer(model, dtype)


def engine(info: ModelInfo) -> str:
    """Return what computes a model on this machine, with its version."""
    on_gpu = default_device() == "cuda"
    package = "onnxruntime" if is_bert(info) and not on_gpu else "torch"
    try:
        return f"{package} {version(package)}, on {'a GPU' if on_gpu else 'the processor'}"
    except PackageNotFoundError:
        extra = "reelscore[learned]" if package == "onnxruntime" else "reelscore[torch]"
        return f"{package}, which is missing: {install_command(extra)}"


def is_bert(info: ModelInfo) -> bool:
    """Return whether a model's encoder is a BERT, for which torch is not needed."""
    return info.encoder.get("model_type") == "bert"


def _layers(head: Tensors) -> list[Layer]:
    """Return the layers of a head, in their order."""
    numbers = sorted(int(name.removesuffix(".bias")) for name in head if name.endswith(".bias"))
    return [(unpacked(head, f"{k}.weight"), unpacked(head, f"{k}.bias")) for k in numbers]


class _AnyEncoder:
    """Any other encoder, rebuilt by transformers."""

    def __init__(self, config: Config, encoder: Tensors, head: Tensors, tokens: TextTokens) -> None:
        torch, transformers = need("torch"), need("transformers")
        kind = transformers.AutoConfig.for_model(**config)
        network = CrossEncoder(
            transformers.AutoModel.from_config(kind), tokens.tokenizer, tokens.max_length
        )
        parts = (("encoder", encoder), ("head", head))
        network.restore(
            {
                f"{part}.{name}": torch.tensor(unpacked(tensors, name))
                for part, tensors in parts
                for name in tensors
                if not name.endswith(".scale")
            }
        )
        self._network = network

    def __call__(self, pairs: TokenLists, threads: int) -> FloatArray:
        with torch_threads(threads):
            return self._network.predict_tokens(pairs, batch=32)[:, None]


def predict_captions(
    network: CrossEncoder,
    captions: Sequence[JudgedCaption],
    *,
    several: Several = "mean",
    similarity: float = 0.0,
    embedding: Embedding | None = None,
) -> FloatArray:
    """Score captions against all their references."""
    counts = np.array([len(caption.references) for caption in captions])
    pairs = [(caption.candidate, text) for caption in captions for text in caption.references]
    once = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
    candidates, references = [a for a, _ in once], [b for _, b in once]
    scores = network.predict(candidates, references)
    if similarity and embedding is not None:
        scores = scores + similarity * cosines(candidates, references, embedding)
    return over_references(scores[[once[pair] for pair in pairs]], counts, several)
