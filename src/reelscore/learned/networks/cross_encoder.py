"""The network: an encoder reads candidate and reference together, a small head gives a score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.errors import DataError
from reelscore.learned.networks.encoders import load_encoder, most_tokens
from reelscore.learned.networks.token_lists import TextTokens, TokenBatch, TokenLists
from reelscore.text.wordpiece import PackagePieces, WordPieces

if TYPE_CHECKING:
    from torch import Tensor

Tensors = dict[str, "Tensor"]


class CrossEncoder:
    """An encoder with a head of two layers on the first token."""

    def __init__(
        self, encoder: Any, tokenizer: WordPieces | PackagePieces, max_length: int
    ) -> None:
        torch = need("torch")
        width = encoder.config.hidden_size
        self.encoder = encoder  # a model of transformers
        self.head = torch.nn.Sequential(
            torch.nn.Dropout(0.1),
            torch.nn.Linear(width, width),
            torch.nn.Tanh(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(width, 1),
        )
        torch.nn.init.normal_(self.head[4].weight, std=0.02)
        torch.nn.init.zeros_(self.head[4].bias)
        self.tokens = TextTokens(tokenizer, most_tokens(encoder.config.to_dict(), max_length))
        self.device = "cpu"
        self.has_types = getattr(encoder.config, "type_vocab_size", 0) > 1

    @classmethod
    def start(cls, encoder: str, max_length: int, seed: int) -> CrossEncoder:
        """Take an encoder by name or path, with a fresh head drawn by a seed."""
        need("torch").manual_seed(seed)
        return cls(*load_encoder(encoder), max_length)

    def keep_layers(self, numbers: Sequence[int]) -> None:
        """Leave out all other layers of the encoder, and keep its embeddings as they are."""
        torch = need("torch")
        stack = getattr(getattr(self.encoder, "encoder", None), "layer", None)
        if stack is None or max(numbers) >= len(stack):
            there = "no layers of BERT" if stack is None else f"layers 0 to {len(stack) - 1}"
            wanted = ", ".join(map(str, numbers))
            raise DataError(f"The encoder has {there}; expected layers {wanted} to keep.")
        self.encoder.encoder.layer = torch.nn.ModuleList(stack[k] for k in numbers)
        self.encoder.config.num_hidden_layers = len(numbers)
        self.encoder.embeddings.requires_grad_(False)

    def to(self, device: str) -> CrossEncoder:
        """Move to a device."""
        self.encoder.to(device)
        self.head.to(device)
        self.device = device
        return self

    def training(self, mode: bool) -> None:
        """Switch dropout on or off."""
        self.encoder.train(mode)
        self.head.train(mode)

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Yield all weights, by name."""
        for part, module in (("encoder", self.encoder), ("head", self.head)):
            for name, value in module.named_parameters():
                yield f"{part}.{name}", value

    def state(self) -> Tensors:
        """Return a copy of all weights, by name, in main memory."""
        return {n: v.detach().cpu().clone().contiguous() for n, v in self.named_parameters()}

    def restore(self, state: Tensors) -> None:
        """Set all weights; those of a pooler, which no score depends on, may be missing."""
        torch = need("torch")
        with torch.no_grad():
            for name, value in self.named_parameters():
                if name not in state and ".pooler." in name:
                    continue
                shape = tuple(state[name].shape) if name in state else "missing"
                if shape != tuple(value.shape):
                    raise DataError(
                        f"The weights are of another encoder: {name} is {shape}, expected "
                        f"{tuple(value.shape)}. Name the encoder that they were trained from."
                    )
                value.copy_(state[name])

    def forward(self, batch: TokenBatch) -> Tensor:
        """Return the scores of pairs, as a tensor."""
        torch = need("torch")
        ids, types, mask = (
            torch.from_numpy(array).to(self.device, non_blocking=True) for array in batch.padded()
        )
        more = {"token_type_ids": types} if self.has_types else {}
        on_gpu = self.device == "cuda"
        with torch.autocast("cuda", torch.bfloat16, enabled=on_gpu):
            hidden = self.encoder(input_ids=ids, attention_mask=mask, **more).last_hidden_state
        return self.head(hidden[:, 0].float())[:, 0]

    def predict(
        self, candidates: Sequence[str], references: Sequence[str], batch: int = 512
    ) -> NDArray[np.float64]:
        """Score pairs, the short ones together."""
        return self.predict_tokens(self.tokens.pairs(candidates, references), batch)

    def predict_tokens(self, pairs: TokenLists, batch: int = 512) -> NDArray[np.float64]:
        """Score pairs whose tokens are known, the short ones together."""
        torch = need("torch")
        self.training(False)
        order = np.argsort(pairs.lengths, kind="stable")
        scores = np.zeros(len(order))
        with torch.inference_mode():
            for begin in range(0, len(order), batch):
                part = order[begin : begin + batch]
                scores[part] = self.forward(pairs.take(part)).double().cpu().numpy()
        return scores
