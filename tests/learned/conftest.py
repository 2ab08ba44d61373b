"""Tiny encoders with random weights, and judged captions made up for them."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from reelscore.learned.judged_captions import JudgedCaption
from support.command_fixtures import folder, run, snapshot, write_json

TEXT = "a the man woman dog cat boy runs sits plays eats ball guitar on in street beach car"
WORDS = TEXT.split()
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "vocab_size": len(MARKS) + len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


@pytest.fixture(autouse=True)
def one_thread():
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tokenizer_in(home: Path):
    tokenizers = pytest.importorskip("tokenizers")
    (home / "vocab.txt").write_text("\n".join([*MARKS, *WORDS]) + "\n")
    return tokenizers.BertWordPieceTokenizer(str(home / "vocab.txt"))._tokenizer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a BERT with two layers of sixteen numbers, to train."""
    torch = pytest.importorskip("torch", reason="training needs torch: reelscore[torch]")
    transformers = pytest.importorskip("transformers", reason="training needs transformers")
    home = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    transformers.BertModel(transformers.BertConfig(**CONFIG)).save_pretrained(home)
    tokenizer = transformers.BertTokenizerFast(tokenizer_object=tokenizer_in(home))
    tokenizer.save_pretrained(home)
    return str(home)


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(3, 9)))


@pytest.fixture(scope="session")
def captions() -> list[JudgedCaption]:
    """Captions of three groups, scored by the overlap with their reference; some unjudged."""
    rng = random.Random(0)
    judged = []
    for k in range(180):
        candidate, references = sentence(rng), (sentence(rng), sentence(rng))
        overlap = len(set(candidate.split()) & set(references[0].split())) / 3 - 1
        judged.append(
            JudgedCaption(
                group=f"g{k % 3}",
                kind="SA" if k % 2 else "MA",
                system=f"s{k % 4}",
                item=f"g{k % 3}/{k // 4}",
                candidate=candidate,
                references=references,
                score=overlap if k % 5 else None,
                raw=50 + 20 * overlap if k % 5 else None,
                ratings=1 + k % 9,
            )
        )
    return judged


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights, written to a folder."""
    from reelscore.learned.model_files import ModelInfo, write_model

    pytest.importorskip("safetensors")
    home = tmp_path_factory.mktemp("model")
    info = ModelInfo("tiny", CONFIG, 32, (0.5, 2.0), (40.0, 10.0))
    write_model(home, random_weights(), tokenizer_in(home), info)
    return home


@pytest.fixture(scope="session")
def fused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model like that, with sentence vectors that count half as much as the network."""
    from reelscore.learned.model_files import ModelInfo, write_model

    home = tmp_path_factory.mktemp("fused")
    info = ModelInfo("tiny", CONFIG, 32, (0.5, 2.0), (40.0, 10.0), similarity=0.5)
    weights = random_weights()
    vectors = {
        name.replace("encoder.", "similarity.", 1): value[::-1]  # another encoder
        for name, value in weights.items()
        if name.startswith("encoder.")
    }
    write_model(home, {**weights, **vectors}, tokenizer_in(home), info)
    return home


def random_weights() -> dict[str, np.ndarray]:
    """Weights of a BERT with a head, by their names."""
    width, wide = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "encoder.embeddings.word_embeddings": (CONFIG["vocab_size"], width),
        "encoder.embeddings.position_embeddings": (CONFIG["max_position_embeddings"], width),
        "encoder.embeddings.token_type_embeddings": (2, width),
        "encoder.embeddings.LayerNorm": (width,),
        "head.1": (width, width),
        "head.4": (1, width),
    }
    for layer in range(CONFIG["num_hidden_layers"]):
        place = f"encoder.encoder.layer.{layer}"
        shapes |= {f"{place}.attention.self.{n}": (width, width) for n in ("query", "key", "value")}
        shapes |= {
            f"{place}.attention.output.dense": (width, width),
            f"{place}.attention.output.LayerNorm": (width,),
            f"{place}.intermediate.dense": (wide, width),
            f"{place}.output.dense": (width, wide),
            f"{place}.output.LayerNorm": (width,),
        }
    rng = np.random.default_rng(3)
    weights = {}
    for name, shape in shapes.items():
        # scores that differ: matrices larger than those that training starts from
        weights[f"{name}.weight"] = rng.normal(len(shape) == 1, 0.3, shape).astype(np.float32)
        if not name.endswith("_embeddings"):
            weights[f"{name}.bias"] = rng.normal(0, 0.1, shape[0]).astype(np.float32)
    return weights
