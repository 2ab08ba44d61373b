"""The parser: captions to dependency trees, by a small network that onnxruntime runs.

A network reads words by the lower layers of MiniLM, tags them, and scores every word as head of
every other. There is one for each way to draw trees: ``ud``, the trees of Universal Dependencies,
for roles in a clause; and ``teacher``, the trees of the parser behind the official SPICE tool,
mistakes included, for scene graphs. The best tree without crossing arcs is taken.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.errors import MissingExtraError
from reelscore.text.parser.lexicon import PACKAGE, Lexicon
from reelscore.text.parser.trees import ROOT, Token, Tree
from reelscore.text.tokens import thread_count, tokenize
from reelscore.text.wordpiece import open_tokenizer

Treebank = Literal["ud", "teacher"]
Lemmas = Callable[[str, str], str]

_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_LONGEST = 512  # pieces of words the network can read at once; later words get no place in a tree


def ud_trees(sentences: Sequence[str], *, threads: int | None = 1) -> list[Tree]:
    """Parse sentences, as they were written, into trees of Universal Dependencies."""
    parser = _parser("Reading captions as language")
    lexicon = Lexicon.load()
    words = [
        list(as_written(sentence, tokens.split()))
        for sentence, tokens in zip(
            sentences, tokenize(sentences, keep_punctuation=True), strict=True
        )
    ]
    groups = [parts(sentence) for sentence in words]
    parsed = parser.trees(
        [[part for group in sentence for part in group] for sentence in groups],
        "ud",
        lambda form, tag: lexicon.lemma(form, tag).text,
        thread_count(threads),
    )
    return [joined(tree, words, lexicon) for tree, words in zip(parsed, groups, strict=True)]


def teacher_trees(captions: Sequence[str], *, threads: int | None = None) -> list[Tree]:
    """Parse captions as the parser behind the official SPICE tool does, as far as can be."""
    parser = _parser("SPICE")
    lexicon = Lexicon.load()
    exceptions = parser.lemmas

    def lemma(form: str, tag: str) -> str:
        return exceptions.get(f"{form} {tag}") or lexicon.lemma(form, tag).text

    words = [caption.split() for caption in captions]
    return parser.trees(words, "teacher", lemma, thread_count(threads))


def teacher_name() -> str:
    """Name the parser behind scene graphs: package, version, and a checksum of its files.

    >>> teacher_name().startswith("reelscore-parser-")
    True
    """
    return _parser("SPICE").name


def as_written(text: str, tokens: Sequence[str]) -> Iterator[str]:
    """Yield tokens, which are in lower case, with the letters that they have in a text.

    >>> list(as_written("Anna's dog (left)", ["anna", "'s", "dog", "-lrb-", "left", "-rrb-"]))
    ['Anna', "'s", 'dog', '-lrb-', 'left', '-rrb-']
    """
    lower = text.lower()
    same_length = len(lower) == len(text)
    end = 0
    for token in tokens:
        start = lower.find(token, end) if same_length else -1
        if start >= 0:
            end = start + len(token)
            yield text[start:end]
        else:
            yield token


class Parser:
    """The network with its tokenizer: words in, trees out.

    Attributes:
        lemmas: Base forms that differ from the lexicon's in the teacher's trees, by form and tag.
    """

    def __init__(self, folder: Path) -> None:
        """Open the files of a parser in a folder."""
        model = json.loads((folder / "parser.json").read_text(encoding="utf-8"))
        self._folder, self._version = folder, model["version"]
        self.lemmas: dict[str, str] = model["lemmas"]
        self._tags: dict[str, list[str]] = {}
        self._relations: dict[str, list[str]] = {}
        self._networks: dict[str, Any] = {}
        # vectors of the pieces of words, in bytes; all networks read these
        self._vectors = np.load(folder / "pieces.npy", mmap_mode="r")
        self._scales = np.load(folder / "scales.npy")
        for name, treebank in model["treebanks"].items():
            self._tags[name] = treebank["tags"]
            self._relations[name] = treebank["relations"]
            self._networks[name] = _session(folder / f"{name}.onnx")
        self._tokenizer = open_tokenizer(folder / "pieces.json")

    @cached_property
    def name(self) -> str:
        """The package, its version, and a checksum of the files that decide a teacher's tree."""
        digest = hashlib.sha256()
        for file in ("parser.json", "pieces.json", "pieces.npy", "scales.npy", "teacher.onnx"):
            digest.update((self._folder / file).read_bytes())
        return f"reelscore-parser-{self._version}-{digest.hexdigest()[:8]}"

    def trees(
        self, sentences: Sequence[Sequence[str]], treebank: Treebank, lemmas: Lemmas, threads: int
    ) -> list[Tree]:
        """Parse sentences, given as their words.

        One at a time: the weights are bytes, and what multiplies them is rounded to bytes by the
        range of what is computed together. So a tree depends on no other sentence.
        """
        parse = partial(self._tree, treebank=treebank, lemmas=lemmas)
        if threads == 1:
            return list(map(parse, sentences))
        with ThreadPoolExecutor(threads) as pool:  # the network runs outside of Python's lock
            return list(pool.map(parse, sentences))

    def _tree(self, words: Sequence[str], *, treebank: Treebank, lemmas: Lemmas) -> Tree:
        pieces, firsts = self._pieces(list(map(_spelling, words)))
        words = words[: len(firsts) - 1]
        if not words:
            return Tree(())
        vectors = (self._vectors[pieces] * self._scales[pieces])[None]
        inputs = {"vectors": vectors, "firsts": firsts[None]}
        tags, arcs, relations = self._networks[treebank].run(None, inputs)
        heads = _native.projective_heads(arcs, np.array([len(words)])).tolist()
        tag_names, relation_names = self._tags[treebank], self._relations[treebank]
        tokens = []
        for place, (word, tag_number, head) in enumerate(zip(words, tags[0], heads, strict=True)):
            tag = tag_names[tag_number]
            relation = relation_names[relations[0, place, head]]
            tokens.append(Token(word, tag, lemmas(word, tag), head - 1, relation))
        return Tree(tuple(tokens))

    def _pieces(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces of a sentence, and where each word begins; first the root, at the mark.

        A word without pieces, such as a control character, stands where the next one does.
        """
        own, offsets = self._tokenizer.cut(words)
        before, after = self._tokenizer.single.marks
        pieces = np.array([*before, *own, *after][:_LONGEST])
        starts = len(before) + offsets[:-1]
        last = min(_LONGEST, len(before) + len(own))
        return pieces, np.concatenate([[0], starts[starts < last]])


def _spelling(word: str) -> str:
    """How the network reads a word: marks such as ``<unk>`` stand for words, ``-lrb-`` does not."""
    return _BRACKETS.get(word) or (word.strip("<>") or word)


@cache
def _parser(purpose: str) -> Parser:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None or not find_spec("onnxruntime"):
        raise MissingExtraError.of(
            f"{purpose} needs a parser", "reelscore[parser]", "reelscore-parser"
        )
    return _open(Path(spec.origin).parent)


@cache
def _open(folder: Path) -> Parser:
    return Parser(folder)


def _session(path: Path) -> Any:
    onnxruntime = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


# Words with hyphens: parsed in parts, as the treebank has them (*T - shirt*), and whole in the
# tree, as the lexicon and a reader know them (*t-shirt*).

_HYPHENATED = re.compile(r"\w+(-\w+)+")


def parts(words: Sequence[str]) -> list[list[str]]:
    """The parts of each word: several of one with hyphens, else the word itself.

    >>> parts(["a", "T-shirt"])
    [['a'], ['T', '-', 'shirt']]
    """
    return [re.findall("[^-]+|-", w) if _HYPHENATED.fullmatch(w) else [w] for w in words]


def joined(tree: Tree, groups: Sequence[Sequence[str]], lexicon: Lexicon) -> Tree:
    """The tree of the words whose `parts` were parsed.

    A word hangs where the part nearest to the root does. Its lemma is that of the whole, if the
    lexicon has it, else that of the last of two parts.
    """
    if all(len(group) == 1 for group in groups):
        return tree
    word_of = [number for number, group in enumerate(groups) for _ in group]
    tokens: list[Token] = []
    start = 0
    for group in groups:
        places = range(start, min(start + len(group), len(tree.tokens)))
        start += len(group)
        if not places:  # the parser reads only so many words
            break
        # the part nearest to the root: what hangs below the word then cannot be above it
        top = min(places, key=tree.depth)
        token = tree.tokens[top]
        head = token.head if token.head == ROOT else word_of[token.head]
        if len(group) > 1:
            token = _whole("".join(group), token, tree.tokens[places[-1]], lexicon)
        tokens.append(replace(token, head=head))
    return Tree(tuple(tokens))


def _whole(text: str, head: Token, last: Token, lexicon: Lexicon) -> Token:
    noun = lexicon.lemma(text, "NNS")
    if noun.known and not head.relation.startswith(("amod", "advmod")):
        tag = "NN" if noun.text == text.lower() else "NNS"
        return replace(head, text=text, tag=tag, lemma=noun.text)
    tag = last.tag if last.tag.startswith(("NN", "VB")) else head.tag
    lemma = last.lemma if text.count("-") == 1 else text.lower()  # a "one-year-old" is no "old"
    return replace(head, text=text, tag=tag, lemma=lemma)
