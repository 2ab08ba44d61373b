"""Dependency trees: one token per word, each with its head; read and written as CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

ROOT = -1


@dataclass(frozen=True, slots=True)
class Token:
    """A word in a tree: `head` is the index of the word it depends on, `ROOT` for the root.

    >>> Token("dogs", "NNS", "dog", head=1, relation="nsubj").lemma
    'dog'
    """

    text: str
    tag: str
    lemma: str
    head: int
    relation: str


@dataclass(frozen=True)
class Tree:
    """The words of one sentence and how they depend on one another.

    >>> dog = Token("dogs", "NNS", "dog", head=1, relation="nsubj")
    >>> tree = Tree((dog, Token("run", "VBP", "run", head=ROOT, relation="root")))
    >>> tree.children[1]
    (0,)
    >>> tree.root
    1
    """

    tokens: tuple[Token, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The indexes of the words that depend on each word, from left to right."""
        dependents: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head != ROOT:
                dependents[token.head].append(index)
        return tuple(map(tuple, dependents))

    @cached_property
    def root(self) -> int:
        """The index of the first root; `ROOT` where the tree is empty."""
        roots = (index for index, token in enumerate(self.tokens) if token.head == ROOT)
        return next(roots, ROOT)


def read_trees(lines: Iterable[str]) -> Iterator[Tree]:
    r"""Read trees from `lines` of CoNLL-U: ten columns a word, an empty line after a sentence.

    Tags are those of the fifth column (Penn). Contracted forms (`1-2`) and empty nodes (`1.1`)
    are left out, as the trees do not use them.

    >>> text = ["1\tdogs\tdog\t_\tNNS\t_\t2\tnsubj\t_\t_",
    ...         "2\trun\trun\t_\tVBP\t_\t0\troot\t_\t_"]
    >>> [token.text for tree in read_trees(text) for token in tree.tokens]
    ['dogs', 'run']
    """
    tokens: list[Token] = []
    for line in lines:
        columns = line.rstrip("\n").split("\t")
        if len(columns) < 2:
            if tokens and not line.startswith("#"):
                yield Tree(tuple(tokens))
                tokens = []
        elif columns[0].isdecimal():
            _, text, lemma, _, tag, _, head, relation, *_ = columns
            tokens.append(Token(text, tag, lemma, int(head) - 1, relation))
    if tokens:
        yield Tree(tuple(tokens))


def write_tree(tree: Tree) -> str:
    r"""Write a `tree` in CoNLL-U, with the empty line that ends a sentence.

    >>> tree = Tree((Token("Run", "VB", "run", ROOT, "root"),))
    >>> write_tree(tree)
    '1\tRun\trun\t_\tVB\t_\t0\troot\t_\t_\n\n'
    """
    rows = [
        (number, word.text, word.lemma, "_", word.tag, "_", word.head + 1, word.relation, "_", "_")
        for number, word in enumerate(tree.tokens, start=1)
    ]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows) + "\n"
