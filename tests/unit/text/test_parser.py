"""The parser gives a tree for whatever it is given, and good ones for captions."""

from __future__ import annotations

import lzma
import socket
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from reelscore import _native
from reelscore.text.parser.networks import as_written, teacher_name, teacher_trees, ud_trees
from reelscore.text.parser.trees import Tree, read_trees

ODD = [
    "",
    "   ",
    "...",
    "😀 😀",
    "犬が走る",
    "a \x00 dog \x07 runs",
    "<unk> <unk> in <eos>",
    "The dog (left) can't see Anna's “cat”.",
    "word " * 700,
    "supercalifragilisticexpialidocious" * 30,
]


def is_tree(tree: Tree) -> bool:
    """One root, no circle, no arc that crosses another."""
    heads = [token.head for token in tree.tokens]
    arcs = [(min(i, head), max(i, head)) for i, head in enumerate(heads)]
    crossing = any(a < c < b < d for a, b in arcs for c, d in arcs)
    reached = {tree.root}
    for _ in heads:
        reached |= {i for i, head in enumerate(heads) if head in reached}
    return heads.count(-1) == 1 and len(reached) == len(heads) and not crossing


@pytest.mark.parametrize("parse", [ud_trees, teacher_trees])
def test_odd_captions_get_trees(parse) -> None:
    trees = [tree for tree in parse(ODD) if tree.tokens]
    assert len(trees) >= len(ODD) - 3  # the tokenizer drops emoji, as the COCO tools do
    assert all(map(is_tree, trees))


def test_a_long_caption_keeps_the_words_that_can_be_read_at_once() -> None:
    [tree] = teacher_trees(["word " * 700])
    assert len(tree.tokens) == 511  # 512 pieces, one of them the mark of the beginning


def test_a_tree_depends_on_no_other_caption_and_on_no_thread() -> None:
    captions = ["a man rides a horse", "two dogs run on the beach and a woman laughs", "snow"] * 4
    together = teacher_trees(captions, threads=4)
    assert together == teacher_trees(captions, threads=1)
    assert together == [teacher_trees([caption])[0] for caption in captions]


def test_words_keep_their_letters() -> None:
    text = "A man, (Anna's), can't"
    [tree] = ud_trees([text])
    words = [token.text for token in tree.tokens]
    assert words == ["A", "man", ",", "-lrb-", "Anna", "'s", "-rrb-", ",", "ca", "n't"]
    # A letter whose lower case is longer: positions in the text are not those in the lower case.
    assert list(as_written("İ dog", ["i̇", "dog"])) == ["i̇", "dog"]


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    [tree] = teacher_trees(["a man is riding a horse"])
    assert [token.relation for token in tree.tokens] == [
        "det",
        "nsubj",
        "aux",
        "root",
        "det",
        "dobj",
    ]
    assert teacher_name().startswith("reelscore-parser-1.")


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_heads_are_those_of_the_best_tree(words: int) -> None:
    generator = np.random.default_rng(words)
    choices = np.stack(np.meshgrid(*[range(words + 1)] * words), -1).reshape(-1, words)
    for _ in range(20):
        scores = generator.normal(size=(1, words, words + 1)).astype(np.float32)
        sums = scores[0, np.arange(words), choices].sum(1)
        best = next(
            choices[place]
            for place in np.argsort(-sums)
            if is_tree(bare_tree(choices[place].tolist()))
        )
        heads = _native.projective_heads(scores, np.array([words]))
        assert heads.tolist() == best.tolist()


def test_heads_refuse_scores_of_another_shape() -> None:
    scores = np.zeros((1, 3, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="sentences x words"):
        _native.projective_heads(scores, np.array([3]))
    with pytest.raises(ValueError, match="beyond"):
        _native.projective_heads(np.zeros((1, 3, 4), dtype=np.float32), np.array([4]))


def bare_tree(heads: list[int]) -> Tree:
    lines = [f"{i}\tw\tw\t_\tNN\t_\t{head}\tdep\t_\t_" for i, head in enumerate(heads, start=1)]
    return next(read_trees(lines))


def test_trees_of_the_web_treebank(shared: Path, full: bool) -> None:
    """UD English EWT, test part; the network has seen its training part alone."""
    path = shared / "movie" / "ud_ewt" / "en_ewt-ud-test.conllu.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        gold = list(islice(read_trees(lines), None if full else 500))
    texts = [" ".join(token.text for token in tree.tokens) for tree in gold]
    # Sentences that our tokenizer cuts as the treebank does; the rest cannot be compared by place.
    pairs = [
        (tree, parsed)
        for tree, parsed in zip(gold, ud_trees(texts), strict=True)
        if len(tree.tokens) == len(parsed.tokens)
    ]
    words = [
        (right, own)
        for tree, parsed in pairs
        for right, own in zip(tree.tokens, parsed.tokens, strict=True)
    ]
    assert len(pairs) >= 0.7 * len(gold)
    attached = [(right, own) for right, own in words if right.head == own.head]
    labelled = [right for right, own in attached if right.relation == own.relation]
    assert sum(right.tag == own.tag for right, own in words) / len(words) >= 0.94
    assert len(attached) / len(words) >= 0.89
    assert len(labelled) / len(words) >= 0.86
