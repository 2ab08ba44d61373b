"""The C++ kernels as Python sees them: flat arrays in, flat arrays out (cpp/bindings.cpp)."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Offsets: TypeAlias = NDArray[np.int64]
Ids: TypeAlias = NDArray[np.uint32]
Floats: TypeAlias = NDArray[np.float64]
MeteorParameters: TypeAlias = tuple[float, float, float, float]

def pack(texts: list[str]) -> tuple[Bytes, Offsets]: ...
def unpack(bytes: Bytes, offsets: Offsets) -> list[str]: ...
def take(bytes: Bytes, offsets: Offsets, numbers: Offsets) -> tuple[Bytes, Offsets]: ...
def ptb_tokenize(
    bytes: Bytes, offsets: Offsets, coco: bool, keep_punctuation: bool, threads: int
) -> tuple[Bytes, Offsets]: ...
def ptb_tokenize_lines(
    bytes: Bytes, offsets: Offsets, threads: int
) -> tuple[tuple[Bytes, Offsets], Bytes]: ...
def ptb_tokenize_open(
    bytes: Bytes, offsets: Offsets, closed: Bytes, threads: int
) -> tuple[Offsets, tuple[Bytes, Offsets]]: ...
def string_hashes(bytes: Bytes, offsets: Offsets) -> NDArray[np.uint64]: ...
def poisson_draws(
    items: NDArray[np.uint64], seed: int, first: int, draws: int
) -> NDArray[np.uint8]: ...

class Vocabulary:
    def words(self) -> tuple[Bytes, Offsets]: ...
    def __len__(self) -> int: ...
    def word(self, id: int) -> str: ...
    def number(self, bytes: Bytes, offsets: Offsets) -> Offsets: ...

def word_ids(
    bytes: Bytes, offsets: Offsets, at_blanks: bool, vocabulary: Vocabulary
) -> tuple[Ids, Offsets]: ...
def plainly_spaced(bytes: Bytes, offsets: Offsets) -> bool: ...

class PairIds:
    def __len__(self) -> int: ...
    def number(self, firsts: Offsets, seconds: Offsets) -> Offsets: ...
    def pairs(self, begin: int) -> tuple[Offsets, Offsets]: ...

def group_sums(rows: Floats, numbers: Offsets, group_offsets: Offsets) -> Floats: ...
def bleu_statistics(
    candidates: Ids,
    candidate_offsets: Offsets,
    references: Ids,
    word_offsets: Offsets,
    items: Offsets,
    reference_offsets: Offsets,
    order: int,
    threads: int,
) -> Floats: ...
def self_bleu_statistics(
    captions: Ids, caption_offsets: Offsets, group_offsets: Offsets, order: int, threads: int
) -> Floats: ...
def rouge_l_statistics(
    candidates: Ids,
    candidate_offsets: Offsets,
    references: Ids,
    word_offsets: Offsets,
    items: Offsets,
    reference_offsets: Offsets,
    threads: int,
) -> Floats: ...

class DocumentFrequencies:
    def __init__(self, order: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def order(self) -> int: ...
    def add_ngrams(self, captions: Ids, word_offsets: Offsets) -> None: ...
    def count(self, references: Ids, word_offsets: Offsets, reference_offsets: Offsets) -> None: ...
    def count_repeated(
        self,
        references: Ids,
        word_offsets: Offsets,
        reference_offsets: Offsets,
        log_documents: float,
    ) -> Floats: ...
    def set(self, ngrams: Ids, ngram_offsets: Offsets, frequencies: Floats) -> None: ...
    def entries(self) -> tuple[Ids, Ids, Floats]: ...
    def add(self, prefixes: Ids, words: Ids, frequencies: Floats) -> None: ...

def cider_norms(
    captions: Ids,
    word_offsets: Offsets,
    frequencies: DocumentFrequencies,
    log_documents: float,
    threads: int,
) -> Floats: ...
def cider_statistics(
    candidates: Ids,
    candidate_offsets: Offsets,
    references: Ids,
    word_offsets: Offsets,
    reference_norms: Floats,
    items: Offsets,
    reference_offsets: Offsets,
    frequencies: DocumentFrequencies,
    log_documents: float,
    sigma: float,
    clip: bool,
    threads: int,
) -> Floats: ...
def cider_group_sums(
    texts: Ids,
    word_offsets: Offsets,
    candidates: Offsets,
    references: Offsets,
    group_offsets: Offsets,
    order: int,
    sigma: float,
    clip: bool,
    threads: int,
) -> Floats: ...

class LanguageIndex:
    @staticmethod
    def open(content: Bytes) -> LanguageIndex | None: ...
    def synsets(self, word: str) -> list[int]: ...
    @property
    def kept_texts(self) -> int: ...

class LanguageIndexBuilder:
    def __init__(self) -> None: ...
    def add_function_words(self, text: bytes) -> None: ...
    def add_prefixes(self, text: bytes) -> None: ...
    def add_exceptions(self, text: bytes) -> None: ...
    def add_synsets(self, text: bytes) -> None: ...
    def add_paraphrases(self, chunk: bytes) -> None: ...
    def finish(self) -> Bytes: ...

def meteor_statistics(
    language: LanguageIndex,
    candidates: Bytes,
    candidate_offsets: Offsets,
    references: Bytes,
    text_offsets: Offsets,
    reference_offsets: Offsets,
    parameters: MeteorParameters,
    threads: int,
    stems: tuple[Bytes, Offsets, Bytes, Offsets] | None = None,
) -> Floats: ...
def meteor_pairs(
    language: LanguageIndex,
    candidates: Bytes,
    candidate_offsets: Offsets,
    references: Bytes,
    text_offsets: Offsets,
    candidate_numbers: Offsets,
    reference_numbers: Offsets,
    parameters: MeteorParameters,
    threads: int,
) -> Floats: ...
def meteor_best(
    language: LanguageIndex,
    candidates: Bytes,
    candidate_offsets: Offsets,
    references: Bytes,
    text_offsets: Offsets,
    reference_offsets: Offsets,
    parameters: MeteorParameters,
    threads: int,
) -> tuple[Offsets, Floats, Offsets]: ...
def meteor_alignment(
    language: LanguageIndex,
    candidate: str,
    reference: str,
    parameters: MeteorParameters,
    stems: tuple[Bytes, Offsets, Bytes, Offsets] | None = None,
) -> tuple[list[str], list[str], list[tuple[int, int, int, int, int]], float]: ...
def power(base: Floats, exponent: float) -> Floats: ...
def segment_iou(
    candidates: Floats,
    candidate_offsets: Offsets,
    references: Floats,
    reference_offsets: Offsets,
    epsilon: float,
    threads: int,
) -> Floats: ...
def match_sums(
    costs: Floats,
    bonuses: Floats,
    candidate_offsets: Offsets,
    reference_offsets: Offsets,
    sums: Floats,
    threads: int,
) -> Floats: ...
def match_rows(costs: Floats, bonuses: Floats, rows: int, columns: int) -> Offsets: ...
def count_inversions(values: Offsets) -> int: ...
def loop_starts(texts: list[str]) -> list[int]: ...
def projective_heads(scores: NDArray[np.float32], lengths: Offsets) -> Offsets: ...
