"""A tiny encoder with random weights, and judged captions made up for it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from reelscore.learned.judged_captions import JudgedCaption

torch = pytest.importorskip("torch")

TEXT = "a the man woman dog cat boy runs sits plays eats ball guitar on in street beach car"
WORDS = TEXT.split()


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a BERT with two layers of sixteen numbers."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    vocabulary = folder / "vocab.txt"
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary.write_text("\n".join([*marks, *WORDS]) + "\n")
    tokenizer = BertWordPieceTokenizer(str(vocabulary))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(marks) + len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(folder)
    return str(folder)


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
def model(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights, written to a folder."""
    from reelscore.learned.cross_encoder import CrossEncoder
    from reelscore.learned.model_files import ModelInfo, write_model

    folder = tmp_path_factory.mktemp("model")
    network = CrossEncoder.start(tiny, 32, seed=3)
    with torch.no_grad():  # random scores that differ
        network.head[4].weight.normal_(std=1.0)
    info = ModelInfo("tiny", network.encoder.config.to_dict(), 32, (0.5, 2.0), (40.0, 10.0))
    write_model(folder, network.state(), network.tokens.tokenizer, info)
    return folder
