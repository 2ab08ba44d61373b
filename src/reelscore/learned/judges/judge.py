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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.captions.caption_files import read_candidates
from reelscore.data.checks import first_few
from reelscore.data.tables.scales import Scale
from reelscore.endpoint.answers import AnswerForm, Reading
from reelscore.endpoint.journal import AnswerRecord
from reelscore.endpoint.prompts import JudgePrompt, Prompt, quoted
from reelscore.errors import DataError, check_choice
from reelscore.learned.judges.endpoint_metric import Asked, EndpointMetric, Question, of_captions
from reelscore.metrics.base import FloatArray
from reelscore.text.words import CaptionBatch, Captions
from reelscore.video.frames import Sampling, find_videos, read_frames, video_key

See = Literal["references", "frames", "both"]
Expect = Literal["answer", "logprobs"]
SCALES = {100: (0, 100), 5: (1, 5)}


class _Better(msgspec.Struct, forbid_unknown_fields=True):
    better: Literal["A", "B", "tie"]


COMPARISON = AnswerForm(_Better)


def won(answer: msgspec.Struct) -> float:
    """Return 1 if caption A won, 0 if B did.

    >>> won(COMPARISON.read('{"better": "tie"}'))
    0.5
    """
    assert isinstance(answer, _Better)
    return {"A": 1.0, "B": 0.0, "tie": 0.5}[answer.better]


class JudgeScores(NamedTuple):
    """The scores that a prompt asks for.

    >>> scores = JudgeScores.of(JudgePrompt.read("rcap"), 100)
    >>> scores.values(AnswerRecord("9f2c", '{"score": 7}'), "strict")
    [0.7]
    """

    names: list[str]  # of the fields of the answer
    low: int  # the lowest, before it is divided
    high: int  # the highest
    divisor: int  # what they are divided by
    form: AnswerForm[msgspec.Struct]  # the form of the answer

    @classmethod
    def of(cls, prompt: JudgePrompt, scale: int) -> JudgeScores:
        """Read what a prompt asks for; a prompt without a scale of its own takes the user's."""
        settings = prompt.settings
        low, high = settings.range or SCALES[scale]
        number = Annotated[int, msgspec.Meta(ge=low, le=high)]
        fields: list[tuple[str, type] | tuple[str, type, str]] = []
        fields += [(name, number) for name in settings.names]
        fields += [("reason", str, "")] if settings.reason == "yes" else []
        kind = msgspec.defstruct("Scores", fields, forbid_unknown_fields=True)
        return cls(settings.names, low, high, settings.divisor, AnswerForm(kind))

    @property
    def words(self) -> str:
        """The scale in words, for prompts."""
        return f"from {self.low} (not at all) to {self.high} (perfectly)"

    @property
    def scale(self) -> Scale:
        """How to read each score."""
        return Scale("high", self.low / self.divisor, self.high / self.divisor, mean=True)

    def values(self, record: AnswerRecord, reading: Reading) -> list[float]:
        """Return the scores of an answer, expectations where it has them; a mean comes first."""
        answer = self.form.read(record.content, reading)
        written = {name: float(getattr(answer, name)) for name in self.names}
        if record.numbers:
            written |= self.form.expected(answer, record.content, record.numbers)
        return self.with_mean([written[name] for name in self.names])

    def with_mean(self, scores: list[float]) -> list[float]:
        """Divide scores, and put the mean of several before them."""
        own = [score / self.divisor for score in scores]
        return own if len(own) == 1 else [sum(own) / len(own), *own]


@dataclass(frozen=True)
class Judge(EndpointMetric):
    """A model behind an OpenAI-compatible endpoint.

    Attributes:
        prompt: ``adequacy`` (Direct Assessment's question), ``factuality``, ``helpful`` (for blind
            people), ``preference`` (compares two captions), a paper's question (``clair``,
            ``accr``, ``video-chatgpt``, ``rcap``, ``llm-ad-eval``), or a text file.
        scale: 100 for scores from 0 to 100, or 5 for 1 to 5; a paper's question has its own.
        see: What the model sees: ``references``, ``frames`` of the video, or ``both``.
        against: A file of another system's captions, for a prompt that compares two.
        videos: The folder of the videos, each named after its item.
        frames: How many frames are shown.
        side: The longer side of a frame, in pixels.
        expect: What counts: the number in the ``answer``, or the mean of the numbers that the model
            could have written there, by their log-probabilities (``logprobs``).

    >>> print(Judge("some-model", scale=5).scale_of("judge"))
    1 to 5, higher is better
    """

    prompt: str = "adequacy"
    scale: int = 100
    see: See = "references"
    against: str | None = None
    videos: str | None = None
    frames: int = 8
    side: int = 512
    expect: Expect = "answer"
    name: ClassVar[str] = "judge"
    needs_references: ClassVar[bool] = False  # unless it is to see them: see `prepare`

    def __post_init__(self) -> None:
        prompt = JudgePrompt.read(self.prompt)
        own = prompt.settings.range
        scales = [str(scale) for scale in SCALES]
        if own is not None and self.scale in (100, own[1]):
            object.__setattr__(self, "scale", own[1])
            scales = [str(own[1])]
        check_choice("scale of judge", str(self.scale), scales)
        check_choice("value of judge|expect", self.expect, get_args(Expect))
        check_choice("value of judge|see", self.see, get_args(See))
        super().__post_init__()
        enough = max(self.max_tokens, prompt.settings.max_tokens)
        object.__setattr__(self, "max_tokens", enough)
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
    def prompts(self) -> Sequence[Prompt]:
        """The one that is asked."""
        return [JudgePrompt.read(self.prompt)]

    def files(self) -> dict[str, str]:
        """The other system's captions."""
        return {} if self.against is None else {"against": self.against}

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Asked:
        """Check that everything is there before anything is asked."""
        prepared: Asked = super().prepare(references, reference_offsets)
        if self.see != "references" and self.videos is None:
            raise DataError(
                f"judge: see:{self.see} needs videos; name their folder: judge|videos:FOLDER."
            )
        if self.see != "frames" and not np.diff(reference_offsets).all():
            raise DataError(
                f'judge: see:{self.see} needs references; give them with references="FILE", or '
                "let it see only the video: judge|see:frames|videos:FOLDER."
            )
        return prepared

    def statistics(self, batch: CaptionBatch, prepared: Asked) -> FloatArray:
        """The scores, and 1; 0 and 0 for a caption that is left out."""
        pairs = self._questions(batch, prepared)
        progress = of_captions(batch.progress, len(pairs))
        with self.asking(prepared) as interview:
            records = iter(interview.ask([each for own in pairs for each in own], progress))
        return np.array([self._row([next(records) for _ in own]) for own in pairs])

    @property
    def _asked(self) -> JudgeScores:
        return JudgeScores.of(JudgePrompt.read(self.prompt), self.scale)

    @property
    def _form(self) -> AnswerForm[Any]:
        return self._asked.form if self.against is None else COMPARISON

    def _questions(self, batch: CaptionBatch, prepared: Asked) -> list[list[Question]]:
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
                [self._about(prompt, {**fields, **each}, name, videos) for each in shown]
            )
        return questions

    def _about(
        self, prompt: JudgePrompt, fields: Mapping[str, str], item: str, videos: Mapping[str, Path]
    ) -> Question:
        chances = self.expect == "logprobs"
        if not videos:
            return self.question(prompt, fields, self._form, item, chances=chances)
        video, sampling = videos[item], Sampling(self.frames, self.side)
        return self.question(
            prompt,
            fields,
            self._form,
            item,
            images=lambda: read_frames(video, sampling).jpegs(),
            images_key=f"{video_key(video)}|frames:{self.frames}|side:{self.side}",
            chances=chances,
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
        raise DataError(
            f"{file}: {len(missing)} items have no caption to compare with ({first_few(missing)})."
        )
    return others
