"""Judge: a language model behind an endpoint rates captions as people are asked to.

Scale: 0–100 or 1–5, higher is better, or that of the prompt; for a prompt that compares the caption
with another system's, the share of comparisons won (0–1). The model sees references, frames of the
video, or both; at temperature 0, by a prompt whose hash is in the signature. Its answers must
follow a JSON schema, as far as the server can see to that, and are read strictly unless asked
otherwise. Every answer goes into a journal at once, so that a run can be interrupted and continued,
and no question is paid for twice.

A prompt may ask for several scores; ``judge`` is then their mean, and the others have their names.

A pair of captions is shown in both orders: ``judge_disagreement`` is the share of pairs whose
winner depends on the order, ``judge_first`` how often the caption shown first won (0.5: no bias).
A caption without a word gets the lowest score without a question. The same model can answer
otherwise tomorrow: keep the journal with your results.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore._cache import cache_directory
from reelscore._progress import Progress
from reelscore.data.captions.caption_files import read_candidates
from reelscore.data.tables.scales import Scale
from reelscore.endpoint.abilities import FORMS
from reelscore.endpoint.answers import AnswerForm, Reading
from reelscore.endpoint.chat import Endpoint, checked_url
from reelscore.endpoint.journal import AnswerRecord, Journal
from reelscore.endpoint.prompts import JudgePrompt, quoted
from reelscore.endpoint.questions import ChatQuestion, Usage, ask_all, chat_request
from reelscore.errors import DataError, check_choice
from reelscore.learned.judges.judge_answers import COMPARISON, SCALES, JudgeScores, won
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range
from reelscore.text.words import CaptionBatch, Captions
from reelscore.video.frames import Sampling, find_videos, read_frames, video_key

See = Literal["references", "frames", "both"]
Failed = Literal["error", "skip"]
Expect = Literal["answer", "logprobs"]


# Parts of a large set are scored by several threads: one has the journal, and the questions.
_ALONE = threading.Lock()


@dataclass
class PreparedJudge:
    """References by item, what the questions took so far, and how they were answered.

    Attributes:
        references: Of all items.
        answered: How many questions have an answer.
        strict: How many of these were read strictly.
        forms: The forms in which the server was asked.
        usage: What it took.
        notes: What else there is to say.
    """

    references: list[str]
    answered: int = 0
    strict: int = 0
    forms: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Judge(Metric):
    """A model behind an OpenAI-compatible endpoint.

    The key, if one is needed, is taken from the environment variable ``REELSCORE_API_KEY``.

    Attributes:
        model: The model's name at the endpoint.
        url: The endpoint's address.
        prompt: ``adequacy`` (Direct Assessment's question), ``factuality``, ``helpful`` (for blind
            people), ``preference`` (compares two captions), a paper's question (``clair``,
            ``accr``, ``video-chatgpt``, ``rcap``, ``llm-ad-eval``), or a text file.
        scale: 100 for scores from 0 to 100, or 5 for 1 to 5; a paper's question has its own.
        see: What the model sees: ``references``, ``frames`` of the video, or ``both``.
        against: A file of another system's captions, for a prompt that compares two.
        videos: The folder of the videos, each named after its item.
        frames: How many frames are shown.
        side: The longer side of a frame, in pixels.
        max_tokens: Tokens that an answer may have.
        model_seed: Random seed of the answers, for servers that use one.
        schema: Whether the endpoint is asked for JSON by a schema, in the best form that it takes.
        read: How answers are read: ``strict``, JSON of the form alone, or ``lenient``, such JSON
            or one number of the scale anywhere in the answer.
        expect: What counts: the number in the ``answer``, or the mean of the numbers that the model
            could have written there, by their log-probabilities (``logprobs``).
        failed: Whether captions without a usable answer are an ``error``, or left out (``skip``).
        journal: The file of answers; by default one for each model, in the cache directory.
        parallel: How many questions may be in flight.
        timeout: Seconds that a request may take.
        tries: How often a request is sent that fails.
        price_in: What a million tokens of questions cost, to show the cost.
        price_out: What a million tokens of answers cost.

    >>> print(Judge("some-model", scale=5).scale_of("judge"))
    1 to 5, higher is better
    """

    model: str = ""
    url: str = "http://127.0.0.1:8000/v1"
    prompt: str = "adequacy"
    scale: int = 100
    see: See = "references"
    against: str | None = None
    videos: str | None = None
    frames: int = 8
    side: int = 512
    max_tokens: int = 64
    model_seed: int = 1
    schema: bool = True
    read: Reading = "strict"
    expect: Expect = "answer"
    failed: Failed = "error"
    journal: str | None = field(default=None, compare=False)
    parallel: int = field(default=8, compare=False)
    timeout: float = field(default=120.0, compare=False)
    tries: int = field(default=6, compare=False)
    price_in: float = field(default=0.0, compare=False)
    price_out: float = field(default=0.0, compare=False)
    name: ClassVar[str] = "judge"
    needs_references: ClassVar[bool] = False  # unless it is to see them: see `prepare`
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "any"

    def __post_init__(self) -> None:
        prompt = JudgePrompt.read(self.prompt)
        own = prompt.settings.range
        scales = [str(scale) for scale in SCALES]
        if own is not None and self.scale in (100, own[1]):
            object.__setattr__(self, "scale", own[1])
            scales = [str(own[1])]
        check_choice("scale of judge", str(self.scale), scales)
        check_choice("value of judge|read", self.read, get_args(Reading))
        check_choice("value of judge|expect", self.expect, get_args(Expect))
        check_choice("value of judge|see", self.see, get_args(See))
        check_choice("value of judge|failed", self.failed, get_args(Failed))
        check_range(self, "parallel", 1, 1000)
        check_range(self, "tries", 1, 100)
        check_range(self, "max_tokens", 1, 1_000_000)
        for price in ("price_in", "price_out"):
            check_range(self, price, 0, 1e9)
        enough = max(self.max_tokens, prompt.settings.max_tokens)
        object.__setattr__(self, "max_tokens", enough)
        object.__setattr__(self, "url", checked_url(self.url))
        compares = prompt.is_comparison
        if compares != (self.against is not None):
            problem = "compares two captions" if compares else "shows one caption"
            remedy = "name the other system's file" if compares else "leave it out"
            raise DataError(
                f"judge: the prompt {self.prompt!r} {problem}, and against is "
                f"{self.against!r}; {remedy}: judge|prompt:{self.prompt}"
                f"{'|against:FILE' if compares else ''}."
            )
        if compares and self.expect != "answer":
            raise DataError(
                "judge|expect:logprobs is for prompts that ask for numbers; "
                f"{self.prompt} asks which caption is better. Leave expect out."
            )

    @property
    def outputs(self) -> tuple[str, ...]:
        """One score, or a mean and several; for comparisons also how much the order mattered."""
        if self.against is None:
            names = self._asked.names
            own = (f"{self.name}_{name}" for name in names) if len(names) > 1 else ()
            return (self.name, *own)
        return (self.name, "judge_disagreement", "judge_first")

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Scores as asked for, or shares."""
        if self.against is None:
            labels = ["Judge", *(f"Judge: {name}" for name in self._asked.names)]
            scale = self._asked.scale
            return tuple(
                replace(scale, label=label) for label, _ in zip(labels, self.outputs, strict=False)
            )
        return (
            Scale("high", 0, 1, mean=True, label="Judge: won", percent=True),
            Scale("low", 0, 1, mean=True, label="Judge: order matters", percent=True),
            Scale("neither", 0, 1, mean=True, label="Judge: first won", percent=True),
        )

    @property
    def compares(self) -> bool:
        """Whether the references are all that it sees beside the caption."""
        return self.see == "references" and self.against is None

    @property
    def one_process(self) -> bool:
        """Its journal has one writer; the endpoint sets the pace, not this machine."""
        return True

    def files(self) -> dict[str, str]:
        """The other system's captions."""
        return {} if self.against is None else {"against": self.against}

    def signature(self, **context: object) -> str:
        """As of every metric; with the hash of the prompt, and the text as it is."""
        if context:
            context = {"revision": JudgePrompt.read(self.prompt).revision, **context, "tok": "raw"}
        return super().signature(**context)

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> PreparedJudge:
        """Check that everything is there before anything is asked."""
        if not self.model:
            raise DataError("judge: no model is named; name one that the endpoint serves: model:…")
        if self.see != "references" and self.videos is None:
            raise DataError(
                f"judge: see:{self.see} needs videos; name their folder: judge|videos:FOLDER."
            )
        if self.see != "frames" and not np.diff(reference_offsets).all():
            raise DataError(
                f'judge: see:{self.see} needs references; give them with references="FILE", or '
                "let it see only the video: judge|see:frames|videos:FOLDER."
            )
        return PreparedJudge(references.original.unpack())

    def statistics(self, batch: CaptionBatch, prepared: PreparedJudge) -> FloatArray:
        """The scores, and 1; 0 and 0 for a caption that is left out."""
        pairs = self._questions(batch, prepared)
        endpoint = Endpoint.from_environment(self.url, timeout=self.timeout, tries=self.tries)
        with _ALONE, Journal(self._journal()) as journal:
            try:
                outcome = ask_all(
                    endpoint,
                    [question for questions in pairs for question in questions],
                    partial(self._form.read, reading=self.read),
                    journal,
                    usage=prepared.usage,
                    parallel=self.parallel,
                    progress=batch.progress and _per_caption(batch.progress, pairs),
                )
            except KeyboardInterrupt:
                raise KeyboardInterrupt(
                    f"the answers so far are in {journal.path}. Give the command again to go on"
                ) from None
        if journal.cut_off:
            prepared.notes.append(
                f"{journal.path}: the last line was cut off, and its question was asked again."
            )
        usable = [record for record in outcome.records if not record.fault]
        prepared.answered += len(usable)
        prepared.strict += sum(self._can_read(record, "strict") for record in usable)
        prepared.forms |= {record.form for record in usable} - {""}
        self._report(outcome.faults, prepared)
        records = iter(outcome.records)
        return np.array([self._row([next(records) for _ in own]) for own in pairs])

    def scores(self, totals: FloatArray) -> FloatArray:
        """The means over items; NaN where there is none."""
        with np.errstate(invalid="ignore"):
            return totals[..., :-1] / totals[..., -1:]

    def notes(self, prepared: PreparedJudge) -> list[str]:
        """What it took, and whether the server changed its model."""
        usage, notes = prepared.usage, prepared.notes
        price = usage.cost(self.price_in, self.price_out)
        cost = f", cost {price:,.4f}" if self.price_in or self.price_out else ""
        lines = [f"judge: {usage}{cost}.", *notes]
        if self.schema and (other := prepared.forms - {FORMS[0]}):
            lines.append(f"judge: the server takes no JSON schema; asked by {', '.join(other)}.")
        if self.read == "lenient":
            counts = (
                f"{prepared.strict:,} strictly, {prepared.answered - prepared.strict:,} leniently"
            )
            lines.append(f"judge: of {prepared.answered:,} answers, {counts} read.")
        if len(usage.models) > 1:
            lines.append(
                f"Warning: judge: answers of several models: {', '.join(sorted(usage.models))}. "
                "Scores by different models cannot be compared."
            )
        return lines

    def found(self, prepared: PreparedJudge) -> dict[str, object]:
        """How answers were asked for, and how many of them could be read strictly."""
        own: dict[str, object] = (
            {"asked": "+".join(sorted(prepared.forms))} if prepared.forms else {}
        )
        if self.read == "lenient":
            own["strict"] = f"{prepared.strict}/{prepared.answered}"
        return own

    @property
    def _asked(self) -> JudgeScores:
        return JudgeScores.of(JudgePrompt.read(self.prompt), self.scale)

    @property
    def _form(self) -> AnswerForm[Any]:
        return self._asked.form if self.against is None else COMPARISON

    def _can_read(self, record: AnswerRecord, reading: Reading) -> bool:
        try:
            self._form.read(record.content, reading)
        except DataError:
            return False
        return True

    def _journal(self) -> Path:
        if self.journal is not None:
            return Path(self.journal)
        name = "".join(c if c.isalnum() or c in "-." else "_" for c in self.model)
        return cache_directory() / "judge" / f"{name}.jsonl"

    def _questions(self, batch: CaptionBatch, prepared: PreparedJudge) -> list[list[ChatQuestion]]:
        """For each candidate its questions: none where it has no word, two for a comparison."""
        captions, items = batch.candidates.original.unpack(), batch.items.tolist()
        prompt = JudgePrompt.read(self.prompt)
        ids = _ids(batch, self)
        others = _other_captions(self.against, ids) if self.against is not None else {}
        videos = {}
        if self.see != "references" and self.videos is not None:
            videos = find_videos(self.videos, sorted({ids[item] for item in items}))
        questions = []
        for caption, item in zip(captions, items, strict=True):
            begin, end = batch.reference_offsets[item : item + 2]
            fields = {
                "evidence": self._evidence(prepared.references[begin:end]),
                "scale": self._asked.words,
            }
            name = ids[item] if ids else str(item)
            shown = [{"caption": quoted(caption)}]
            if others:
                first, second = quoted(caption), quoted(others[name])
                shown = [{"first": first, "second": second}, {"first": second, "second": first}]
            if not any(map(str.isalnum, caption)):
                shown = []
            questions.append(
                [self._question(prompt, {**fields, **each}, name, videos) for each in shown]
            )
        return questions

    def _question(
        self, prompt: JudgePrompt, fields: Mapping[str, str], item: str, videos: Mapping[str, Path]
    ) -> ChatQuestion:
        task, text = prompt.filled(fields)
        request = chat_request(
            self.model,
            task,
            f"{text}\n\n{self._form.request}",
            max_tokens=self.max_tokens,
            seed=self.model_seed,
            schema=self._form.schema() if self.schema else None,
            chances=self.expect == "logprobs",
        )
        if not videos:
            return ChatQuestion(request, about={"item": item})
        video, sampling = videos[item], Sampling(self.frames, self.side)
        return ChatQuestion(
            request,
            lambda: read_frames(video, sampling).jpegs(),
            f"{video_key(video)}|frames:{self.frames}|side:{self.side}",
            {"item": item},
        )

    def _evidence(self, references: Sequence[str]) -> str:
        parts = []
        if self.see != "references":
            parts.append("The pictures above are frames of the video, in their order.")
        if self.see != "frames":
            lines = "\n".join(f"- {quoted(text)}" for text in references)
            parts.append(f"People who watched the video described it so:\n{lines}")
        return "\n\n".join(parts)

    def _row(self, records: Sequence[AnswerRecord]) -> list[float]:
        columns = len(self.outputs)
        if any(record.fault for record in records):
            return [0.0] * columns + [0.0]
        if self.against is None:
            asked = self._asked
            lowest = asked.with_mean([float(asked.low)] * len(asked.names))
            return [*(asked.values(records[0], self.read) if records else lowest), 1.0]
        answers = [self._form.read(record.content, self.read) for record in records]
        if not answers:
            return [0.0, 0.0, 0.5, 1.0]
        first, second = (
            won(answers[0]),
            1.0 - won(answers[1]),
        )  # how far the caption won, in both orders
        return [(first + second) / 2, float(first != second), (first + 1.0 - second) / 2, 1.0]

    def _report(self, faults: Sequence[AnswerRecord], prepared: PreparedJudge) -> None:
        """Complain about captions without a usable answer, or note that they are left out.

        Where no question has one there is nothing to score, and something is wrong with the model.
        """
        if not faults:
            return
        items = list(dict.fromkeys(record.about.get("item", "?") for record in faults))
        first = f"{', '.join(map(repr, items[:3]))}; of the first: {faults[0].fault}"
        hint = ""
        if any(record.finish == "length" for record in faults):  # as of models that think first
            hint = f" Let answers be longer: judge|max_tokens:{16 * self.max_tokens}."
        whole = [record for record in faults if record.finish == "stop"]
        readable = sum(self._can_read(record, "lenient") for record in whole)
        if readable and self.read == "strict":
            hint += f" {readable:,} can be read all the same: judge|read:lenient."
        if not prepared.answered:
            raise DataError(
                f"judge: no question of {len(faults):,} has a usable answer (items {first}). "
                f"Check the model and the prompt, and run it again.{hint}"
            )
        told = f"judge: {len(faults)} of its questions have no usable answer (items {first})."
        if self.failed == "error":
            raise DataError(
                f"{told} All others are in {self._journal()}. Run it again, or leave these "
                f"captions out: judge|failed:skip.{hint}"
            )
        prepared.notes.append(f"Warning: {told} These captions are left out.{hint}")


def _per_caption(progress: Progress, pairs: Sequence[Sequence[ChatQuestion]]) -> Progress:
    """Report questions as captions."""
    captions = len(pairs)
    return lambda done, total: progress(captions * done // max(total, 1), captions)


def _ids(batch: CaptionBatch, metric: Judge) -> Sequence[str]:
    if not batch.ids and (metric.against is not None or metric.see != "references"):
        raise DataError(
            "judge: which items the captions belong to is not known here; use reelscore.score, "
            "or let it see references alone."
        )
    return batch.ids


def _other_captions(file: str, ids: Sequence[str]) -> Mapping[str, str]:
    others = read_candidates(file)
    missing = [item for item in ids if item not in others]
    if missing:
        first = ", ".join(map(repr, missing[:3]))
        raise DataError(
            f"{file}: {len(missing)} items have no caption to compare with (first: {first})."
        )
    return others
