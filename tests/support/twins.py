"""Slow, obvious versions of what the kernels compute, written from the formulas alone.

They share no code with the package. Words are split as the COCO tools split them: BLEU and CIDEr
between any white space, ROUGE-L at single blanks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from snowballstemmer import stemmer  # type: ignore[import-untyped]

Ngram = tuple[str, ...]


def ngrams(words: Sequence[str], order: int) -> Counter[Ngram]:
    return Counter(tuple(words[k : k + order]) for k in range(len(words) - order + 1))


# BLEU


def bleu_row(candidate: str, references: Sequence[str], n: int) -> list[float]:
    """Matches of orders 1 to n, n-grams of orders 1 to n, length, nearest reference length."""
    words = candidate.split()
    others = [reference.split() for reference in references]
    matched, guessed = [], []
    for order in range(1, n + 1):
        counts = ngrams(words, order)
        highest: Counter[Ngram] = Counter()
        for other in others:
            highest |= ngrams(other, order)
        matched.append(float(sum((counts & highest).values())))
        guessed.append(float(max(0, len(words) - order + 1)))
    nearest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    return [*matched, *guessed, float(len(words)), float(nearest)]


def bleu(rows: Sequence[Sequence[float]], n: int) -> list[float]:
    """BLEU of orders 1 to n of the sum of some rows, with the COCO tools' tiny constants."""
    totals = [sum(column) for column in zip(*rows, strict=True)]
    ratio = (totals[2 * n] + 1e-15) / (totals[2 * n + 1] + 1e-9)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, scores = 1.0, []
    for k in range(n):
        product *= (totals[k] + 1e-15) / (totals[n + k] + 1e-9)
        scores.append(product ** (1 / (k + 1)) * penalty)
    return scores


def self_bleu(captions: Sequence[str], n: int = 4, epsilon: float = 0.1) -> list[float]:
    """BLEU of each caption against all others; an order without a match counts `epsilon`."""
    scores = []
    for k, caption in enumerate(captions):
        others = [*captions[:k], *captions[k + 1 :]]
        row = bleu_row(caption, others, n) if others else [0.0] * (2 * n + 2)
        length, nearest = row[2 * n], row[2 * n + 1]
        if row[0] == 0:
            scores.append(0.0)
            continue
        penalty = 1.0 if length > nearest else math.exp(1 - nearest / length)
        logs = [math.log((row[j] or epsilon) / max(1.0, row[n + j])) for j in range(n)]
        scores.append(penalty * math.exp(sum(logs) / n))
    return scores


# ROUGE-L


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, by the textbook table."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, two in enumerate(second):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if one == two else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def rouge_l(candidate: str, references: Sequence[str], beta: float = 1.2) -> float:
    words = candidate.split(" ")
    others = [reference.split(" ") for reference in references]
    common = [common_length(words, other) for other in others]
    precision = max(length / len(words) for length in common)
    recall = max(length / len(other) for length, other in zip(common, others, strict=True))
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


# CIDEr


def document_frequencies(references: Sequence[Sequence[str]], n: int) -> Counter[Ngram]:
    """In how many items' references each n-gram stands."""
    frequencies: Counter[Ngram] = Counter()
    for texts in references:
        frequencies.update(
            {
                ngram
                for text in texts
                for order in range(1, n + 1)
                for ngram in ngrams(text.split(), order)
            }
        )
    return frequencies


def cider(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    n: int = 4,
    sigma: float = 6.0,
    variant: str = "d",
) -> list[float]:
    """CIDEr-D or plain CIDEr of each item."""
    frequencies = document_frequencies(references, n)
    log_documents = math.log(len(references))

    def vector(words: Sequence[str], order: int) -> dict[Ngram, float]:
        return {
            ngram: count * (log_documents - math.log(max(1, frequencies[ngram])))
            for ngram, count in ngrams(words, order).items()
        }

    def similarity(words: Sequence[str], other: Sequence[str], order: int) -> float:
        one, two = vector(words, order), vector(other, order)
        norm = math.sqrt(sum(x * x for x in one.values()))
        norm *= math.sqrt(sum(x * x for x in two.values()))
        if norm == 0:
            return 0.0
        if variant == "plain":
            return sum(one[g] * two.get(g, 0.0) for g in one) / norm
        clipped = sum(min(one[g], two.get(g, 0.0)) * two.get(g, 0.0) for g in one)
        return clipped / norm * math.exp(-((len(words) - len(other)) ** 2) / (2 * sigma**2))

    return [
        10
        * sum(
            similarity(candidate.split(), text.split(), order)
            for text in texts
            for order in range(1, n + 1)
        )
        / (n * len(texts))
        for candidate, texts in zip(candidates, references, strict=True)
    ]


# Diversity


def loop_start(words: Sequence[str]) -> int:
    """The word from which on the same words come again at once; -1 where there is none."""
    for size in range(1, len(words) // 2 + 1):
        times = 4 if size == 1 else 3 if size < 4 else 2
        same = 0  # words in a row that equal the word `size` places before
        for place in range(size, len(words)):
            same = same + 1 if words[place] == words[place - size] else 0
            if same == size * (times - 1):
                return place + 1 - size * times
    return -1


def diversity(captions: Sequence[str]) -> dict[str, float]:
    words = [caption.split() for caption in captions]
    singles: Counter[Ngram] = sum((ngrams(each, 1) for each in words), Counter())
    pairs: Counter[Ngram] = sum((ngrams(each, 2) for each in words), Counter())
    return {
        "length": sum(map(len, words)) / len(words),
        "vocabulary": float(len(singles)),
        "distinct_1": len(singles) / max(1, singles.total()),
        "distinct_2": len(pairs) / max(1, pairs.total()),
        "unique": len(set(captions)) / len(captions),
    }


# Resampling

Rows = Sequence[Sequence[float]]
Score = Callable[[Sequence[float]], float]


def column_totals(rows: Rows) -> list[float]:
    return [math.fsum(column) for column in zip(*rows, strict=True)]


def bootstrap(rows: Rows, score: Score, resamples: int, seed: int) -> list[float]:
    """Score resamples drawn one item after the other."""
    rng = np.random.default_rng(seed)
    draws = rng.integers(len(rows), size=(resamples, len(rows)), dtype=np.int32)
    return [score(column_totals([rows[k] for k in draw])) for draw in draws]


def exchange_p_value(first: Rows, second: Rows, score: Score) -> float:
    """The exact two-sided p-value over all 2^n ways to swap the items of two systems."""
    observed = abs(score(column_totals(first)) - score(column_totals(second)))
    as_far = 0
    for mask in range(2 ** len(first)):
        one = [second[k] if mask >> k & 1 else first[k] for k in range(len(first))]
        two = [first[k] if mask >> k & 1 else second[k] for k in range(len(first))]
        difference = abs(score(column_totals(one)) - score(column_totals(two)))
        as_far += difference >= observed - 1e-12
    return as_far / 2 ** len(first)


# METEOR 1.5

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
SEARCH_WEIGHTS = (1.0, 0.5, 0.5, 0.5)
SCORE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
BEAM = 40
_stemmer = stemmer("english")


@dataclass(frozen=True)
class Language:
    """METEOR's language data, from texts in the form of its own files."""

    function_words: str
    prefixes: str
    exceptions: str
    synsets: str
    paraphrases: str

    def __post_init__(self) -> None:
        lines = [line for line in self.prefixes.splitlines() if line[:1] not in ("", "#")]
        prefixes = [line.split() for line in lines]
        irregular: dict[str, list[str]] = {}
        lines = self.exceptions.splitlines()
        for base, forms in zip(lines[::2], lines[1::2], strict=True):
            for form in forms.split():
                irregular.setdefault(form, []).append(base)
        lines = self.synsets.splitlines()
        phrases: dict[Ngram, list[Ngram]] = {}
        entries = self.paraphrases.splitlines()
        for one, two in zip(entries[1::3], entries[2::3], strict=True):
            phrases.setdefault(tuple(one.split()), []).append(tuple(two.split()))
        for name, value in {
            "functions": set(self.function_words.split()),
            "always": {each[0] for each in prefixes if len(each) == 1},
            "before_digits": {each[0] for each in prefixes if len(each) == 2},
            "irregular": irregular,
            "sets": {
                word: set(numbers.split())
                for word, numbers in zip(lines[::2], lines[1::2], strict=True)
            },
            "phrases": phrases,
        }.items():
            object.__setattr__(self, name, value)

    functions: set[str] = field(init=False)
    always: set[str] = field(init=False)
    before_digits: set[str] = field(init=False)
    irregular: dict[str, list[str]] = field(init=False)
    sets: dict[str, set[str]] = field(init=False)
    phrases: dict[Ngram, list[Ngram]] = field(init=False)

    def synsets_of(self, word: str) -> set[str]:
        own = self.sets.get(word, set())
        if word in self.irregular:
            return own.union(*(self.sets.get(base, set()) for base in self.irregular[word]))
        return own | self.sets.get(self._base(word), set())

    def _base(self, word: str) -> str:
        if word.endswith("ss") or len(word) <= 2:
            return word
        ful = "ful" if word.endswith("ful") else ""  # appended, though it was never cut off
        for ending, replacement in _ENDINGS:
            if word.endswith(ending):
                base = word[: len(word) - len(ending)] + replacement
                if base in self.sets:
                    return base + ful
        return ""


_RULES = (
    "s> ses>s xes>x zes>z ches>ch shes>sh men>man ies>y s> ies>y es>e es> ed>e ed> ing>e ing> "
    "er> est> er>e est>e"
)
_ENDINGS = [tuple(rule.split(">")) for rule in _RULES.split(" ")]

_LETTER = (
    "A-Za-z\u0160\u017d\u0161\u017e\u0178\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0400-\u04ff"
    "\u0500-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
)
_ALNUM = "0-9" + _LETTER
_BLANK = " \t\n\x0b\f\r"


def meteor_words(text: str, language: Language) -> list[str]:
    """Section 4 of the specification: normalise, lower the case, split."""
    text = f" {text} "
    text = re.sub(f"([^{_ALNUM}{_BLANK}.'`,\u2018\u2019-])", r" \1 ", text)
    # Runs of dots become one detached token; dots inside are hidden from the later steps.
    text = re.sub(r"\.\.+", lambda run: " " + "\ue000" * len(run[0]) + " ", text)
    text = re.sub(r"([^0-9]),([^0-9])", r"\1 , \2", text)
    text = re.sub(r"([0-9]),([^0-9])", r"\1 , \2", text)
    text = re.sub(r"([^0-9]),([0-9])", r"\1 , \2", text)
    text = re.sub("[`\u2018\u2019]", "'", text)
    text = re.sub("[\u201c\u201d]|''", ' " ', text)
    text = text.replace("\u2013", "-").replace("--", "-")
    text = re.sub(f"([{_ALNUM}.])-([{_ALNUM}])", r"\1 \2", text)
    text = re.sub(f"([^{_LETTER}])'([^{_LETTER}])", r"\1 ' \2", text)
    text = re.sub(f"([^{_ALNUM}])'([{_LETTER}])", r"\1 ' \2", text)
    text = re.sub(f"([{_LETTER}])'([^{_LETTER}])", r"\1 ' \2", text)
    text = re.sub(f"([{_LETTER}])'([{_LETTER}])", r"\1 '\2", text)
    text = re.sub("([0-9])'s", r"\1 's", text)
    tokens = [token for token in re.split("[ \t\n\r\f]+", text) if token]
    kept = []
    for token, following in zip(tokens, [*tokens[1:], ""], strict=False):
        word = token[:-1]
        if len(token) == 1 or not token.endswith("."):
            kept.append(token)
        elif "." in word and re.search(f"[{_LETTER}]", word):
            kept.append(token.replace(".", ""))
        elif (
            word in language.always
            or re.match("[a-z]", following)
            or (word in language.before_digits and re.match("[0-9]", following))
        ):
            kept.append(token)
        else:
            kept += [word, "."]
    text = " ".join(kept).replace("\ue000", ".")
    # the jar keeps a vertical tab here: it stays inside a word
    text = re.sub("[ \t\n\f\r\u2000-\u200a\u202f\u205f\u3000\u00a0]+", " ", text)
    text = text.strip("".join(map(chr, range(33))))
    return [word for word in re.split("[ \t\n\r\f]+", text.lower()) if word]


class Match(NamedTuple):
    start: int  # in the reference
    length: int
    test_start: int
    test_length: int
    module: int


@dataclass(frozen=True)
class State:
    chosen: tuple[Match, ...] = ()
    used: frozenset[int] = frozenset()
    test_used: frozenset[int] = frozenset()
    weight: int = 0
    test_weight: int = 0
    chunks: int = 0
    next_word: int = 0
    last: int = -1
    distance: int = 0

    def take(self, match: Match) -> State:
        gain = SEARCH_WEIGHTS[match.module]
        return replace(
            self,
            chosen=(*self.chosen, match),
            used=self.used | set(range(match.start, match.start + match.length)),
            test_used=self.test_used
            | set(range(match.test_start, match.test_start + match.test_length)),
            weight=int(self.weight + match.length * gain),
            test_weight=int(self.test_weight + match.test_length * gain),
            chunks=self.chunks + (self.last not in (-1, match.test_start)),
            next_word=match.start + match.length,
            last=match.test_start + match.test_length,
        )

    def is_free(self, match: Match) -> bool:
        return self.used.isdisjoint(
            range(match.start, match.start + match.length)
        ) and self.test_used.isdisjoint(
            range(match.test_start, match.test_start + match.test_length)
        )

    def rank(self) -> tuple[int, int, int]:
        return -(self.weight + self.test_weight), self.chunks, self.distance


def _key(word: str) -> int:
    """Java's hash of a string, which METEOR takes for the word."""
    units = np.frombuffer(word.encode("utf-16-le"), dtype="<u2").tolist()
    value = 0
    for unit in units:
        value = (31 * value + unit) & 0xFFFFFFFF
    return value


def _proposals(test: Sequence[str], words: Sequence[str], language: Language) -> list[Match]:
    keys, test_keys = [*map(_key, words)], [*map(_key, test)]
    places = [(j, i) for j in range(len(words)) for i in range(len(test))]
    proposals = [Match(j, 1, i, 1, EXACT) for j, i in places if keys[j] == test_keys[i]]
    if keys == test_keys:
        return proposals
    stems = [_key(_stemmer.stemWord(word)) for word in words]
    test_stems = [_key(_stemmer.stemWord(word)) for word in test]
    sets = [language.synsets_of(word) for word in words]
    test_sets = [language.synsets_of(word) for word in test]
    different = [(j, i) for j, i in places if keys[j] != test_keys[i]]
    proposals += [Match(j, 1, i, 1, STEM) for j, i in different if stems[j] == test_stems[i]]
    proposals += [Match(j, 1, i, 1, SYNONYM) for j, i in different if sets[j] & test_sets[i]]
    for j, length, i, test_length in _phrase_pairs(words, test, language):
        proposals.append(Match(j, length, i, test_length, PARAPHRASE))
    for i, test_length, j, length in _phrase_pairs(test, words, language):
        proposals.append(Match(j, length, i, test_length, PARAPHRASE))
    return proposals


def _phrase_pairs(
    source: Sequence[str], other: Sequence[str], language: Language
) -> list[tuple[int, int, int, int]]:
    return [
        (k, length, m, len(phrase))
        for k in range(len(source))
        for length in range(1, len(source) - k + 1)
        for phrase in language.phrases.get(tuple(source[k : k + length]), ())
        for m in range(len(other))
        if tuple(other[m : m + len(phrase)]) == phrase
    ]


def meteor_align(test: Sequence[str], words: Sequence[str], language: Language) -> list[Match]:
    """Sections 5 and 6: the matches chosen between a candidate and a reference."""
    proposed = _proposals(test, words, language)
    coverage: Counter[int] = Counter()
    test_coverage: Counter[int] = Counter()
    for each in proposed:
        coverage.update(range(each.start, each.start + each.length))
        test_coverage.update(range(each.test_start, each.test_start + each.test_length))
    starting = [[each for each in proposed if each.start == j] for j in range(len(words))]
    fixed = {
        each.start: each
        for matches in starting
        if len(matches) == 1
        for each in matches
        if all(coverage[k] == 1 for k in range(each.start, each.start + each.length))
        and all(
            test_coverage[k] == 1
            for k in range(each.test_start, each.test_start + each.test_length)
        )
    }
    begin = State()
    for each in fixed.values():
        marked = State().take(each)
        begin = replace(
            begin, used=begin.used | marked.used, test_used=begin.test_used | marked.test_used
        )
    states = [begin]
    for j in range(len(words) + 1):
        following: list[State] = []
        for state in sorted(states, key=State.rank)[:BEAM]:
            if j == len(words):
                following.append(replace(state, chunks=state.chunks + (state.last != -1)))
            elif j in state.used:
                if j < state.next_word:
                    following.append(state)
                elif state.next_word in fixed:
                    each = fixed[state.next_word]
                    further = state.distance + abs(each.start - each.test_start)
                    following.append(replace(state.take(each), distance=further))
            else:
                for each in starting[j]:
                    if state.is_free(each):
                        following.append(state.take(each))
                        # the parent pays for the distance, not the copy
                        further = state.distance + abs(each.start - each.test_start)
                        state = replace(state, distance=further)
                following.append(
                    replace(
                        state,
                        chunks=state.chunks + (state.last != -1),
                        last=-1,
                        next_word=state.next_word + 1,
                    )
                )
        states = following or [min(states, key=State.rank)]
    return sorted(min(states, key=State.rank).chosen)


def _chunks(matches: Sequence[Match]) -> int:
    """Runs of matches that follow each other on both sides."""
    count, end, test_end = 0, -1, -1
    for match in matches:
        count += (match.start, match.test_start) != (end, test_end)
        end, test_end = match.start + match.length, match.test_start + match.test_length
    return count


def meteor_statistics(candidate: str, reference: str, language: Language) -> list[float]:
    """Section 8: the 23 statistics of one pair."""
    test, words = meteor_words(candidate, language), meteor_words(reference, language)
    matches = meteor_align(test, words, language)
    counts = [[0, 0, 0, 0] for _ in range(4)]
    for match in matches:
        for word in test[match.test_start : match.test_start + match.test_length]:
            counts[match.module][2 if word in language.functions else 0] += 1
        for word in words[match.start : match.start + match.length]:
            counts[match.module][3 if word in language.functions else 1] += 1
    numbers = [
        len(test),
        len(words),
        sum(word in language.functions for word in test),
        sum(word in language.functions for word in words),
        *(number for module in counts for number in module),
        _chunks(matches),
        sum(match.test_length for match in matches),
        sum(match.length for match in matches),
    ]
    return [float(number) for number in numbers]


def meteor_score(
    statistics: Sequence[float],
    alpha: float = 0.85,
    beta: float = 0.2,
    gamma: float = 0.6,
    delta: float = 0.75,
) -> float:
    """Section 9: the score of one statistics vector."""

    def weighted(words: float, function_words: float) -> float:
        return delta * (words - function_words) + (1 - delta) * function_words

    def matched(side: int) -> float:
        total = 0.0
        for offset, share in ((side, delta), (side + 2, 1 - delta)):
            for module, weight in enumerate(SCORE_WEIGHTS):
                total += statistics[4 + 4 * module + offset] * weight * share
        return total

    test_length, length, test_function, function = statistics[:4]
    chunks, test_matches, matches = statistics[20:]
    if not (matched(0) and matched(1)):
        return 0.0
    precision = matched(0) / weighted(test_length, test_function)
    recall = matched(1) / weighted(length, function)
    f_mean = 1 / ((1 - alpha) / precision + alpha / recall)
    is_whole = test_matches == test_length and matches == length and chunks == 1
    fragmentation = 0.0 if is_whole else chunks / ((test_matches + matches) / 2)
    return max(0.0, f_mean * (1 - gamma * fragmentation**beta))


def meteor_best(candidate: str, references: Sequence[str], language: Language) -> list[float]:
    """Section 10: the statistics against the best reference, the first of equals."""
    rows = [meteor_statistics(candidate, reference, language) for reference in references]
    return max(rows, key=meteor_score)


def meteor_system(rows: Sequence[Sequence[float]]) -> float:
    """Section 11: the score of a system; captions whole in one chunk add no chunk."""
    totals = [0.0] * 23
    for row in rows:
        is_whole = row[21] == row[0] and row[22] == row[1] and row[20] == 1
        totals = [
            total + (0.0 if k == 20 and is_whole else value)
            for k, (total, value) in enumerate(zip(totals, row, strict=True))
        ]
    return meteor_score(totals)
