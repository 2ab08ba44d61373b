"""From captions and references to scores: tokenize, prepare, measure, aggregate.

`score` is for one system, `score_systems` for several on the same references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reelscore._progress import Progress
from reelscore.data.captions.caption_files import Candidates, References
from reelscore.data.captions.coverage import items_notes, on_shared_items
from reelscore.data.captions.inputs import Inputs, read_inputs
from reelscore.data.captions.item_ids import ORDER, matched, rule_note
from reelscore.data.captions.languages import language_notes
from reelscore.data.captions.paired_captions import (
    Empty,
    Missing,
    Paired,
    copy_warning,
    lone_candidates,
    pair,
    without_copies,
)
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.lint.defects import reference_notes
from reelscore.data.tables.table import ScoreTable, Sources, system_notes
from reelscore.errors import DataError, about_system
from reelscore.metrics.base import Metric, check_tokens
from reelscore.metrics.registry import DEFAULT_METRICS, table_columns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.scores import Scores, only_row
from reelscore.text.tokens import Tokenizer, divides_words

if TYPE_CHECKING:
    from reelscore.engines.engine import Engine

Metrics = str | Metric | Iterable[str | Metric]


def score(
    candidates: CaptionsLike,
    references: CaptionsLike | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    missing: Missing = "error",
    empty: Empty = "error",
    match_ids: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
) -> Scores:
    """Score one system's captions.

    Args:
        candidates: The system's caption of each item: by id, or a list, a data frame, a data set,
            a file, several files; the guide lists all forms.
        references: The human captions of each item in the same forms, one or several each. They
            may be left out for metrics that need none, and where they stand beside the candidates.
        metrics: Names, signatures or metrics.
        tokenizer: ``ptb``, ``ptb-coco``, ``none``, or one for other languages, such as ``zh``; see
            `reelscore.text.tokens`.
        missing: Items without a candidate are an ``error``, count as an empty caption (``zero``),
            or are left out (``skip``, also for candidates without references).
        empty: Captions without a word, such as "...", are an ``error`` or score as they are
            (``zero``).
        match_ids: How to match ids that candidates and references write differently: one of
            ``basename``, ``casefold``, ``zeros``, ``strip``, ``prefix``, ``number``, or several
            with commas; or ``order``, where a file has none. See
            `reelscore.data.captions.item_ids`. The results have the ids of the references.
        threads: How many threads to use; ``None`` for all cores. Never changes a number.
        engine: Where the work is done; ``None`` for threads of this process. Never changes a
            number either.

    Returns:
        Results by name, each with ``score``, ``items``, ``signature``.

    Raises:
        DataError: If candidates and references do not fit together.

    >>> results = score({"v1": "a man is riding a horse", "v2": "a dog is running"},
    ...                 {"v1": ["a man rides a horse"], "v2": ["a dog runs", "the dog runs"]})
    >>> {name: round(result.score, 3) for name, result in results.items()}
    {'bleu_1': 0.6, 'bleu_2': 0.474, 'bleu_3': 0.0, 'bleu_4': 0.0,
     'meteor': 0.426, 'rouge_l': 0.663, 'cider': 1.972}
    """
    table = score_systems(
        {"": candidates},
        references,
        metrics,
        tokenizer=tokenizer,
        missing=missing,
        empty=empty,
        match_ids=match_ids,
        threads=threads,
        engine=engine,
    )
    return only_row(table)


def score_systems(
    systems: Mapping[str, CaptionsLike] | CaptionsLike | Inputs,
    references: CaptionsLike | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    missing: Missing = "error",
    empty: Empty = "error",
    match_ids: str | None = None,
    common: bool = False,
    leave_one_out: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> ScoreTable:
    """Score several systems against the same references.

    Sets that are larger than memory are scored by `reelscore.score_shards`.

    Args:
        systems: Candidates by system name, in the forms of `score`; or several files, or a data
            frame with a column ``system``; or all that was read already, references included.
        references, metrics, tokenizer, missing, empty, match_ids, threads, engine: As in `score`.
        common: Score all systems on the items that each of them has a candidate for.
        leave_one_out: Score people's captions that are among the references against the others.
        progress: Called now and then with how many captions are done, of how many: from 0 on,
            again for systems that are scored on other items.

    Returns:
        A table whose rows are `Scores`.

    >>> table = score_systems({"one": {"v1": "a man runs"}, "two": {"v1": "a dog"}},
    ...                       {"v1": ["a man is running"]}, metrics="rouge_l")
    >>> table.systems
    ['one', 'two']
    """
    columns = table_columns(metrics)
    chosen = [each.metric for each in columns]
    check_tokens(chosen, tokenizer)
    inputs = systems if isinstance(systems, Inputs) else read_inputs(systems, references)
    captions, truth = inputs.systems, inputs.references
    if not captions:
        raise DataError("There are no candidates; at least one is needed.")
    if truth is None and (needing := [metric.name for metric in chosen if metric.needs_references]):
        raise DataError(f'{needing[0]} needs references; none were given. Pass references="FILE".')
    if match_ids != ORDER:
        with inputs.explained():
            inputs.check_order()
    if truth is not None and match_ids is not None:
        captions = _respelled(captions, truth, match_ids)
    coverage = None
    if common:
        captions, truth, coverage = on_shared_items(captions, truth)
    tokenized = tokenizer == "none"
    paired: dict[str, Paired] = {}
    left_out: dict[str, int] = {}
    for name, candidates in captions.items():
        with inputs.explained(), about_system(name):
            if truth is None:
                paired[name] = lone_candidates(candidates, empty=empty, tokenized=tokenized)
                continue
            others = truth
            if leave_one_out:
                others, left_out[name] = without_copies(candidates, truth)
            paired[name] = pair(
                candidates, others, missing=missing, empty=empty, tokenized=tokenized
            )
    rows: dict[str, Scores] = {}
    warnings: dict[str, None] = {}
    answers = all(metric.reads == "answers" for metric in chosen)  # the right ones are copies
    for names in _on_the_same_items(paired):
        prepared = PreparedReferences(
            paired[names[0]], columns, tokenizer, threads, missing, empty, coverage, match_ids
        )
        warnings |= dict.fromkeys(prepared.warnings())
        own_candidates = [paired[name].candidates for name in names]
        measured = prepared.measure_systems(own_candidates, progress, engine)
        for name, statistics in zip(names, measured, strict=True):
            own = paired[name]
            said = [] if answers else copy_warning(own.candidates, own.references_of)
            if copies := left_out.get(name, 0):
                said = [
                    f"{copies:,} of {len(own):,} captions are among the references, and were "
                    "scored against the others."
                ]
            rows[name] = prepared.scores(statistics, notes=[*own.notes(), *said])
        warnings |= dict.fromkeys(prepared.notes())
    if leave_one_out and not any(left_out.values()):
        raise DataError(
            "leave_one_out=True: no system's captions are nearly all among the references."
        )
    texts = {name or "captions": each.candidates for name, each in paired.items()}
    if truth is not None:
        first = next(iter(paired.values()))
        texts["references"] = first.references
        if not answers:
            warnings |= dict.fromkeys(reference_notes(first.references, len(first.items)))
    table = ScoreTable(
        {name: rows[name] for name in captions}, sources=Sources(captions, truth or {})
    )
    own_notes = system_notes({name: rows[name].notes for name in captions})
    languages = language_notes(chosen, texts, divided=divides_words(tokenizer))
    rules = rule_note(match_ids) if match_ids else []
    notes = [*inputs.notes, *rules, *own_notes, *items_notes(table, coverage)]
    notes += [*languages, *warnings]
    return replace(table, notes=notes)


def _respelled(
    captions: Mapping[str, Candidates], truth: References, match_ids: str
) -> dict[str, Candidates]:
    """Return candidates by the ids of the references."""
    respelled = {}
    for name, candidates in captions.items():
        with about_system(name):
            respelled[name] = matched(match_ids, candidates, truth)
    return respelled


def _on_the_same_items(paired: Mapping[str, Paired]) -> list[list[str]]:
    """Group systems that were paired with the references of the same items."""
    groups: list[list[str]] = []
    for name, each in paired.items():
        for group in groups:
            first = paired[group[0]]
            if first.items == each.items and first.references == each.references:
                group.append(name)
                break
        else:
            groups.append([name])
    return groups
