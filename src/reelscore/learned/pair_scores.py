"""Scores of pairs of texts by a model: each pair once, nothing padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import DataError
from reelscore.learned.bert import Bert, Dtype, by_length
from reelscore.learned.cross_encoder import CrossEncoder, PairTokens
from reelscore.learned.encoders import need
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.model_files import read_weights

FloatArray = NDArray[np.float64]


class PairScorer:
    """A trained model that scores candidates against references.

    Scores do not depend on what else is scored, within 1e-5.

    Args:
        model: The shipped model's name, or a folder.
        dtype: ``int8`` for products of bytes, or ``float32``.
    """

    def __init__(self, model: str, dtype: Dtype = "int8") -> None:
        self.info, tensors, tokenizer = read_weights(model)
        self.tokens = PairTokens(tokenizer, self.info.max_length)
        torch = need("torch")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        head = {n.removeprefix("head."): v for n, v in tensors.items() if n.startswith("head.")}
        self._head = [(_unpacked(head, f"{k}.weight"), head[f"{k}.bias"].float()) for k in (1, 4)]
        config = self.info.encoder
        self._bert: Bert | None = None
        body = {
            n.removeprefix("encoder."): v for n, v in tensors.items() if n.startswith("encoder.")
        }
        if config.get("model_type") == "bert":
            if config.get("hidden_act", "gelu") != "gelu":
                raise DataError(f"{model}: activation {config['hidden_act']!r}; expected 'gelu'.")
            heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
            self._bert = Bert(body, heads, epsilon, dtype, self.device)
            self._head = [(w.to(self.device), b.to(self.device)) for w, b in self._head]
        else:
            self._network = _network(config, body, head, tokenizer, self.info.max_length)

    def score(
        self, candidates: Sequence[str], references: Sequence[str], threads: int = 1
    ) -> FloatArray:
        """Score pairs on people's standardised scale."""
        pairs = list(zip(candidates, references, strict=True))
        once = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
        own = self._scores(list(once), threads)
        low, slope = self.info.to_z
        scores: FloatArray = low + slope * own[[once[pair] for pair in pairs]]
        return scores

    def _scores(self, pairs: Sequence[tuple[str, str]], threads: int) -> FloatArray:
        candidates, references = [a for a, _ in pairs], [b for _, b in pairs]
        if self._bert is None:
            with _threads(threads):
                return self._network.predict(candidates, references, batch=32)
        encodings = self.tokens.pairs(candidates, references)
        self.tokens.forget()
        parts = list(by_length([len(each.ids) for each in encodings], self._bert.batch))
        batches = [[encodings[k] for k in part] for part in parts]
        scores = np.zeros(len(pairs))
        # a batch to each thread: threads that share every product would wait for each other
        workers = 1 if self.device == "cuda" else max(1, min(threads, len(parts)))
        with _threads(1), ThreadPoolExecutor(workers, initializer=_alone) as pool:
            for part, of_part in zip(parts, pool.map(self._batch, batches), strict=True):
                scores[part] = of_part
        return scores

    def _batch(self, encodings: Sequence[Any]) -> FloatArray:
        torch = need("torch")
        assert self._bert is not None
        (w1, b1), (w2, b2) = self._head
        linear = torch.nn.functional.linear
        with torch.inference_mode():
            hidden = self._bert.vectors(encodings, "first")
            output = linear(torch.tanh(linear(hidden, w1, b1)), w2, b2)[:, 0]
            scores: FloatArray = output.double().cpu().numpy()
        return scores


def _alone() -> None:
    need("torch").set_num_threads(1)


@lru_cache(maxsize=2)
def pair_scorer(model: str, dtype: Dtype) -> PairScorer:
    """Load a model once."""
    return PairScorer(model, dtype)


def _unpacked(tensors: dict[str, Any], name: str) -> Any:
    value = tensors[name].float()
    return value * tensors[f"{name}.scale"][:, None] if f"{name}.scale" in tensors else value


def _network(
    config: dict[str, Any], body: dict[str, Any], head: dict[str, Any], tokenizer: Any, length: int
) -> CrossEncoder:
    """Rebuild any other encoder by transformers."""
    transformers = need("transformers")
    kind = transformers.AutoConfig.for_model(**config)
    network = CrossEncoder(transformers.AutoModel.from_config(kind), tokenizer, length)
    own = dict(network.named_parameters())
    state = {}
    for part, tensors in (("encoder", body), ("head", head)):
        for name in tensors:
            if not name.endswith(".scale"):
                state[f"{part}.{name}"] = _unpacked(tensors, name)
    network.restore({name: state.get(name, value) for name, value in own.items()})
    return network


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch use so many threads for a while."""
    torch = need("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def predict_captions(
    network: CrossEncoder, captions: Sequence[JudgedCaption], *, best: float = 0.0
) -> FloatArray:
    """Score captions against all their references: the mean, or somewhat of the best.

    Args:
        network: A trained network.
        captions: The captions.
        best: Weight of the best reference beside the mean: 0 is the mean alone, 1 the best alone.
    """
    counts = [len(caption.references) for caption in captions]
    pairs = [(caption.candidate, text) for caption in captions for text in caption.references]
    once = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
    scores = network.predict([a for a, _ in once], [b for _, b in once])
    rows = scores[[once[pair] for pair in pairs]]
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    means = np.add.reduceat(rows, begins) / np.array(counts)
    result: FloatArray = (1 - best) * means + best * np.maximum.reduceat(rows, begins)
    return result
