"""What metrics share that ask a model behind an endpoint: how it is asked, and what is kept.

Every answer goes into a journal at once, so that a run can be interrupted and continued, and equal
questions are asked once, whichever systems they are about.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore._cache import cache_directory
from reelscore._progress import Progress
from reelscore.data.checks import counted
from reelscore.endpoint.abilities import FORMS
from reelscore.endpoint.answers import AnswerForm, Reading
from reelscore.endpoint.chat import Endpoint, checked_url
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.prompts import Prompt
from reelscore.endpoint.questions import ChatQuestion, Images, Usage, ask_all, chat_request
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import Metric, Reads, check_range
from reelscore.text.words import Captions

Failed = Literal["error", "skip"]

# Parts of a large set are scored by several threads: one has the journal, and the questions.
_ALONE = threading.Lock()


class Question(NamedTuple):
    """What is asked about an item, and the form of the answer."""

    asked: ChatQuestion
    form: AnswerForm[Any]


@dataclass
class Asked:
    """What the questions of a run took so far, and how they were answered."""

    references: list[str]  # of all items
    answered: int = 0  # how many questions have an answer
    strict: int = 0  # how many of these were read strictly
    forms: set[str] = field(default_factory=set)  # the forms in which the server was asked
    usage: Usage = field(default_factory=Usage)  # what it took
    notes: list[str] = field(default_factory=list)  # what else there is to say
    items: set[str] = field(default_factory=set)  # the items that were asked about
    # why captions were left out, and how many
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, why: str, captions: int = 1) -> None:
        """Count captions that are left out."""
        self.left_out[why] = self.left_out.get(why, 0) + captions


@dataclass(frozen=True)
class EndpointMetric(Metric):
    """A metric that asks a model behind an OpenAI-compatible endpoint.

    The key, if one is needed, is taken from the environment variable ``REELSCORE_API_KEY``.

    Attributes:
        model: The model's name at the endpoint.
        url: The endpoint's address.
        max_tokens: Tokens that an answer may have.
        model_seed: Random seed of the answers, for servers that use one.
        schema: Whether the endpoint is asked for JSON by a schema, in the best form that it takes.
        read: How answers are read: ``strict``, JSON of the form alone, or ``lenient``, such JSON
            or one number of the scale anywhere in the answer.
        failed: Whether captions without a usable answer are an ``error``, or left out (``skip``).
        journal: The file of answers; by default one for each model, in the cache directory.
        parallel: How many questions may be in flight.
        timeout: Seconds that a request may take.
        tries: How often a request is sent that fails.
        price_in: What a million tokens of questions cost, to show the cost.
        price_out: What a million tokens of answers cost.
    """

    model: str = ""
    url: str = "http://127.0.0.1:8000/v1"
    max_tokens: int = 64
    model_seed: int = 1
    schema: bool = True
    read: Reading = "strict"
    failed: Failed = "error"
    journal: str | None = field(default=None, compare=False)
    parallel: int = field(default=8, compare=False)
    timeout: float = field(default=120.0, compare=False)
    tries: int = field(default=6, compare=False)
    price_in: float = field(default=0.0, compare=False)
    price_out: float = field(default=0.0, compare=False)
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "any"

    def __post_init__(self) -> None:
        check_choice(f"value of {self.name}|read", self.read, get_args(Reading))
        check_choice(f"value of {self.name}|failed", self.failed, get_args(Failed))
        check_range(self, "parallel", 1, 1000)
        check_range(self, "tries", 1, 100)
        check_range(self, "max_tokens", 1, 1_000_000)
        for price in ("price_in", "price_out"):
            check_range(self, price, 0, 1e9)
        object.__setattr__(self, "url", checked_url(self.url))

    @property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts whose texts decide the answers."""
        return ()

    @property
    def one_process(self) -> bool:
        """Its journal has one writer; the endpoint sets the pace, not this machine."""
        return True

    def signature(self, **context: object) -> str:
        """As of every metric; with the hashes of the prompts, and the text as it is."""
        if context:
            revision = "+".join(prompt.revision for prompt in self.prompts)
            own = {"revision": revision} if revision else {}
            context = {**own, **context, "tok": "raw"}
        return super().signature(**context)

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Any:
        """Check that a model is named before anything is asked."""
        if not self.model:
            raise DataError(
                f"{self.name}: no model is named; name one that the endpoint serves: model:…"
            )
        return Asked(references.original.unpack())

    def question(
        self,
        prompt: Prompt,
        fields: Mapping[str, str],
        form: AnswerForm[Any],
        item: str,
        *,
        images: Images | None = None,
        images_key: str = "",
        chances: bool = False,
    ) -> Question:
        """Write a question about an item."""
        task, text = prompt.filled(fields)
        request = chat_request(
            self.model,
            task,
            f"{text}\n\n{form.request}",
            max_tokens=self.max_tokens,
            seed=self.model_seed,
            schema=form.schema() if self.schema else None,
            chances=chances,
        )
        check = partial(form.read, reading=self.read)
        return Question(
            ChatQuestion(request, images, images_key, {"item": item}, check=check), form
        )

    @contextmanager
    def asking(self, prepared: Asked, *, only_journal: bool = False) -> Iterator[Interview]:
        """Open the journal, to ask in one round or several, or only to read what it has."""
        with _ALONE, Journal(self._journal()) as journal:
            try:
                yield Interview(self, prepared, journal, only_journal)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the answers so far are in {journal.path}. Give the command again to go on"
                ) from None
        if journal.cut_off:
            prepared.notes.append(
                f"{journal.path}: the last line was cut off, and its question was asked again."
            )

    def _journal(self) -> Path:
        if self.journal is not None:
            _JOURNALS[self] = self.journal
        elif self in _JOURNALS:
            return Path(_JOURNALS[self])
        else:
            name = "".join(c if c.isalnum() or c in "-." else "_" for c in self.model)
            return cache_directory() / "judge" / f"{name}.jsonl"
        return Path(self.journal)

    def notes(self, prepared: Any) -> list[str]:
        """What it took, and whether the server changed its model."""
        usage = prepared.usage
        price = usage.cost(self.price_in, self.price_out)
        cost = f", cost {price:,.4f}" if self.price_in or self.price_out else ""
        lines = [f"{self.name}: {usage}{cost}.", *prepared.notes]
        if self.schema and (other := prepared.forms - {FORMS[0]}):
            lines.append(
                f"{self.name}: the server takes no JSON schema; asked by {', '.join(other)}."
            )
        if self.read == "lenient":
            strict, others = prepared.strict, prepared.answered - prepared.strict
            counts = f"{strict:,} strictly, {others:,} leniently"
            lines.append(f"{self.name}: of {prepared.answered:,} answers, {counts} read.")
        if left_out := prepared.left_out:
            whole = counted(sum(left_out.values()), "caption")
            parts = ", ".join(f"{count:,} {why}" for why, count in left_out.items())
            lines.append(f"{self.name}: {whole} left out: {parts}.")
        if len(usage.models) > 1:
            lines.append(
                f"Warning: {self.name}: answers of several models: "
                f"{', '.join(sorted(usage.models))}. Scores by different models cannot be compared."
            )
        return lines

    def found(self, prepared: Any) -> dict[str, object]:
        """How answers were asked for, and how many of them could be read strictly."""
        forms = "+".join(sorted(prepared.forms))
        own: dict[str, object] = {"asked": forms} if forms else {}
        if self.read == "lenient":
            own["strict"] = f"{prepared.strict}/{prepared.answered}"
        return own


# Where a metric of this process keeps its answers: signatures, from which pages rebuild metrics to
# explain their scores, do not say it.
_JOURNALS: dict[EndpointMetric, str] = {}


class Interview:
    """Rounds of questions to a model, with one journal."""

    def __init__(
        self, metric: EndpointMetric, prepared: Asked, journal: Journal, only_journal: bool
    ) -> None:
        self._metric, self._prepared, self._journal = metric, prepared, journal
        self._only_journal = only_journal

    def ask(
        self, questions: Sequence[Question], progress: Progress | None = None
    ) -> list[AnswerRecord]:
        """Return an answer for each question; what cannot be used has a fault.

        Raises:
            DataError: If an answer cannot be used, unless the metric leaves such captions out.
        """
        metric, prepared = self._metric, self._prepared
        if self._only_journal and (
            missing := [each for each in questions if self._journal.answer(each.asked.key) is None]
        ):
            raise DataError(
                f"{self._journal.path} lacks {len(missing):,} of {len(questions):,} answers, and "
                "none is asked for here. Make the page where captions are scored, or score them "
                "without a journal of their own."
            )
        records = ask_all(
            Endpoint.from_environment(metric.url, timeout=metric.timeout, tries=metric.tries),
            [each.asked for each in questions],
            self._journal,
            usage=prepared.usage,
            parallel=metric.parallel,
            progress=progress,
        )
        faults = []
        for record, question in zip(records, questions, strict=True):
            if record.fault:
                faults.append((record, question.form))
            else:
                prepared.answered += 1
                prepared.strict += _can_read(question.form, record, "strict")
                prepared.forms |= {record.form} - {""}
        self._report(faults)
        return records

    def read(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Any]:
        """Return what the model answers as records; ``None`` where an answer cannot be used."""
        return [
            None if record.fault else question.form.read(record.content, self._metric.read)
            for record, question in zip(self.ask(questions, progress), questions, strict=True)
        ]

    def _report(self, faults: Sequence[tuple[AnswerRecord, AnswerForm[Any]]]) -> None:
        """Complain about captions without a usable answer, or note that they are left out.

        Where no question has one there is nothing to score, and something is wrong with the model.
        """
        if not faults:
            return
        metric, prepared, name = self._metric, self._prepared, self._metric.name
        items = list(dict.fromkeys(record.about.get("item", "?") for record, _ in faults))
        first = f"{', '.join(map(repr, items[:3]))}; of the first: {faults[0][0].fault}"
        hint = ""
        if any(record.finish == "length" for record, _ in faults):  # as of models that think first
            hint = f" Let answers be longer: {name}|max_tokens:{16 * metric.max_tokens}."
        whole = [(record, form) for record, form in faults if record.finish == "stop"]
        readable = sum(_can_read(form, record, "lenient") for record, form in whole)
        if readable and metric.read == "strict":
            hint += f" {readable:,} can be read all the same: {name}|read:lenient."
        if not prepared.answered:
            raise DataError(
                f"{name}: no question of {len(faults):,} has a usable answer (items {first}). "
                f"Check the model and the prompt, and run it again.{hint}"
            )
        told = f"{name}: {len(faults)} of its questions have no usable answer (items {first})."
        if metric.failed == "error":
            raise DataError(
                f"{told} All others are in {self._journal.path}. Run it again, or leave these "
                f"captions out: {name}|failed:skip.{hint}"
            )
        prepared.notes.append(f"Warning: {told} These captions are left out.{hint}")


def of_captions(
    progress: Progress | None, captions: int, part: int = 0, parts: int = 1
) -> Progress | None:
    """Report the questions of one round, of several, as captions."""
    if progress is None:
        return None
    return lambda done, total: progress(
        captions * (part * total + done) // max(parts * total, 1), captions
    )


def _can_read(form: AnswerForm[Any], record: AnswerRecord, reading: Reading) -> bool:
    try:
        form.read(record.content, reading)
    except DataError:
        return False
    return True
