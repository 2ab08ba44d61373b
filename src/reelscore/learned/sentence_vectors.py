"""Sentence vectors of an encoder: the mean over tokens, of unit length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.bert import Bert, by_length
from reelscore.learned.cross_encoder import padded
from reelscore.learned.encoders import DEFAULT_ENCODER, encoder_folder, load_encoder, need

FloatArray = NDArray[np.float64]


class SentenceEncoder:
    """Texts to unit vectors, each text once.

    Args:
        encoder: By name or path.
        device: ``cuda`` or ``cpu``; by default the first that is available.
        max_length: Tokens of a text; more are cut off.
    """

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, device: str | None = None, max_length: int = 256
    ) -> None:
        torch = need("torch")
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._bert = _local_bert(Path(encoder_folder(encoder)), self.device)
        if self._bert is None:
            self._model, self.tokenizer = load_encoder(encoder)
            self._model.to(self.device).eval()
        else:
            place = str(Path(encoder_folder(encoder)) / "tokenizer.json")
            self.tokenizer = need("tokenizers").Tokenizer.from_file(place)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        """Give a row for each text."""
        torch = need("torch")
        place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        encodings: list[Any] = self.tokenizer.encode_batch(list(place))
        parts, rows = [], []
        with torch.inference_mode():
            for part in by_length([len(each.ids) for each in encodings]):
                texts_of_part = [encodings[k] for k in part]
                if self._bert is not None:
                    vectors = self._bert.vectors(texts_of_part, "mean")
                else:
                    ids, _, mask = (
                        torch.from_numpy(a).to(self.device) for a in padded(texts_of_part)
                    )
                    hidden = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
                    vectors = (hidden * mask[:, :, None]).sum(dim=1)
                vectors = torch.nn.functional.normalize(vectors, dim=1)
                parts.append(part)
                rows.append(vectors.double().cpu().numpy())
        vectors = np.concatenate(rows)[np.argsort(np.concatenate(parts))]
        result: FloatArray = vectors[[place[text] for text in texts]]
        return result


def _local_bert(folder: Path, device: str) -> Bert | None:
    """Load a local BERT without transformers, which takes seconds to import."""
    weights, config = folder / "model.safetensors", folder / "config.json"
    if not (weights.is_file() and config.is_file() and (folder / "tokenizer.json").is_file()):
        return None
    fields = json.loads(config.read_text(encoding="utf-8"))
    if fields.get("model_type") != "bert" or fields.get("hidden_act") != "gelu":
        return None
    tensors = need("safetensors.torch").load_file(weights)
    kept = {
        name: value
        for name, value in tensors.items()
        if value.is_floating_point() and not name.startswith("pooler.")
    }
    return Bert(kept, fields["num_attention_heads"], fields["layer_norm_eps"], "float32", device)
