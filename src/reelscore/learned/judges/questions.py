"""Questions: what can be answered from a caption alone (VDCscore, CAPability).

Scale 0–1, higher is better, and 0–5 for ``questions_score``. No references are needed, but a file
of questions about the videos.

``preset:vdc`` (Chai et al., 2025) puts each question twice to the model: to answer it from the
caption, and whether the answer says the same as the right one, yes or no and from 0 to 5.
``questions`` is the share of yes in a caption's questions, ``questions_score`` their mean score; a
system has the means over captions. ``vdc-published`` leaves out captions with no yes, or with
score 0, or with an answer that cannot be used, as the authors' tool does, and says how many.

``preset:capability`` (Liu et al., 2025) asks of each annotation whether the caption says it: right,
missing or wrong. Of a dimension, precision is right by right and wrong, recall right by all, and
the hit rate right and wrong by all; ``questions`` is the mean of the 13 dimensions' F1.

The answers to a question are in the journal once for all systems whose captions say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from msgspec.structs import replace

from reelscore._progress import Progress
from reelscore.data.checks import counted, first_few
from reelscore.data.file_names import expanded
from reelscore.data.tables.scales import Scale
from reelscore.endpoint.answers import AnswerForm
from reelscore.endpoint.prompts import MetricPrompt, Prompt, quoted
from reelscore.errors import DataError, check_choice
from reelscore.learned.judges.benchmark_files import DIMENSIONS, AskedQuestion, read_questions
from reelscore.learned.judges.endpoint_metric import Asked, EndpointMetric, Interview, of_captions
from reelscore.metrics.base import FloatArray
from reelscore.stats.correlations import mean_known
from reelscore.text.words import CaptionBatch

Preset = Literal["vdc", "vdc-published", "capability"]
_SHARE = Scale("high", 0, 1, percent=True)
_OF_DIMENSIONS = {"p": "Precision", "r": "Recall", "hit": "Hit rate"}


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    answer: str


class _Comparison(msgspec.Struct, forbid_unknown_fields=True):
    same: Literal["yes", "no"]
    score: Annotated[int, msgspec.Meta(ge=0, le=5)]


class _Verdict(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["right", "missing", "wrong"]
    reason: str = ""


_ANSWER, _COMPARISON, _VERDICT = AnswerForm(_Answer), AnswerForm(_Comparison), AnswerForm(_Verdict)


@dataclass(frozen=True)
class Questions(EndpointMetric):
    """What a model can answer from captions.

    Attributes:
        file: The questions: one of VDC's five files, or CAPability's annotations, a file or a
            folder of them.
        preset: ``vdc``, ``vdc-published`` or ``capability``.

    >>> Questions("some-model", file="detailed.jsonl").outputs
    ('questions', 'questions_score')
    """

    max_tokens: int = 256
    file: str = ""
    preset: Preset = "vdc"
    name: ClassVar[str] = "questions"
    needs_references: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("preset of questions", self.preset, get_args(Preset))
        if self.preset == "vdc-published":
            object.__setattr__(self, "failed", "skip")
        super().__post_init__()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The share of yes and the mean score; or the means of dimensions, and F1 of each."""
        if self.preset != "capability":
            return (self.name, "questions_score")
        parts = (*_OF_DIMENSIONS, *(dimension.lower() for dimension in DIMENSIONS))
        return (self.name, *(f"{self.name}_{part}" for part in parts))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Means over captions, or over dimensions."""
        if self.preset != "capability":
            share = replace(_SHARE, mean=True, headline=True, label="Answered")
            return (share, Scale("high", 0, 5, mean=True, label="Answer score"))
        labels = ["Questions F1", *_OF_DIMENSIONS.values()]
        labels += [f"F1: {dimension.replace('_', ' ')}" for dimension in DIMENSIONS]
        main, *others = (replace(_SHARE, label=label) for label in labels)
        return (replace(main, headline=True), *others)

    @property
    def prompts(self) -> Sequence[Prompt]:
        """For the answer and its comparison; or for an annotation."""
        names = ("annotation",) if self.preset == "capability" else ("answer", "compare")
        return [MetricPrompt.read(name) for name in names]

    def files(self) -> dict[str, str]:
        """The files of questions."""
        return {str(path): str(path) for path in expanded([self.file])}

    def prepare(self, references: Any, reference_offsets: Any) -> Asked:
        """Check that everything is there before anything is asked."""
        if not self.file:
            raise DataError("questions: no questions are named; name their file: file:FILE.")
        self._questions()
        prepared: Asked = super().prepare(references, reference_offsets)
        return prepared

    def _questions(self) -> Mapping[str, list[AskedQuestion]]:
        return read_questions(self.file, annotations=self.preset == "capability")

    def statistics(self, batch: CaptionBatch, prepared: Asked) -> FloatArray:
        """Return share, score and 1; or of each dimension the right, the wrong, and all."""
        if not batch.ids:
            raise DataError(
                "questions: which items the captions belong to is not known here; use "
                "reelscore.score."
            )
        known = self._questions()
        captions = batch.candidates.original.unpack()
        names = [batch.ids[item] for item in batch.items.tolist()]
        prepared.items |= {*names}
        missing = [name for name in names if name not in known]
        if missing and self.preset != "vdc-published":
            raise DataError(
                f"{self.file}: {len(missing):,} items have no questions ({first_few(missing)}); "
                "leave their captions out."
            )
        asked = [
            _CaptionQuestions(caption, name, known.get(name, []))
            for caption, name in zip(captions, names, strict=True)
        ]
        with self.asking(prepared) as interview:
            if self.preset == "capability":
                return self._dimensions(asked, interview, batch.progress)
            return self._answered(asked, interview, batch.progress, prepared)

    def _ask(
        self,
        prompt: str,
        form: AnswerForm[Any],
        fields: Sequence[tuple[str, Mapping[str, str]]],
        interview: Interview,
        progress: Progress | None,
    ) -> list[Any]:
        """Return what the model answers to questions about items, each with its fields."""
        text = MetricPrompt.read(prompt)
        questions = [self.question(text, own, form, item) for item, own in fields]
        return interview.read(questions, progress)

    def _answered(
        self,
        asked: Sequence[_CaptionQuestions],
        interview: Interview,
        progress: Progress | None,
        prepared: Asked,
    ) -> FloatArray:
        """Return the share of yes, the mean score, and 1; zeros for what is left out."""
        pairs = [(each, question) for each in asked for question in each.asked]
        fields = [
            (each.item, {"caption": quoted(each.caption), "question": quoted(own.question)})
            for each, own in pairs
        ]
        halves = [of_captions(progress, len(asked), part, 2) for part in range(2)]
        answers = self._ask("answer", _ANSWER, fields, interview, halves[0])
        there = [k for k, answer in enumerate(answers) if answer is not None]
        fields = []
        for (each, question), said in ((pairs[k], answers[k].answer) for k in there):
            texts = {"question": question.question, "truth": question.truth, "answer": said}
            fields.append((each.item, {name: quoted(text) for name, text in texts.items()}))
        compared = self._ask("compare", _COMPARISON, fields, interview, halves[1])
        verdicts = dict(zip(there, compared, strict=True))
        rows, begin = np.zeros((len(asked), 3)), 0
        for row, each in zip(rows, asked, strict=True):
            own: list[Any] = [verdicts.get(k) for k in range(begin, begin + len(each.asked))]
            begin += len(own)
            if None in own or not each.questions:
                what = "a usable answer to every question" if own else "questions"
                prepared.leave_out(f"without {what}")
                continue
            count = len(each.questions)  # a caption without a word answers none of them
            share = sum(answer.same == "yes" for answer in own) / count
            score = sum(answer.score for answer in own) / count
            if self.preset == "vdc-published" and not (share and score):
                prepared.leave_out("without a right answer")
                continue
            row[:] = share, score, 1.0
        return rows

    def _dimensions(
        self, asked: Sequence[_CaptionQuestions], interview: Interview, progress: Progress | None
    ) -> FloatArray:
        """Return of each dimension how many annotations are right, wrong, and there at all."""
        pairs = [(k, own) for k, each in enumerate(asked) for own in each.asked]
        fields = []
        for k, own in pairs:
            respect, missing, wrong = DIMENSIONS[own.question]
            texts = {"caption": quoted(asked[k].caption), "truth": quoted(own.truth)}
            words = {"respect": respect, "missing": missing, "wrong": wrong}
            fields.append((asked[k].item, {**texts, **words}))
        progress = of_captions(progress, len(asked))
        verdicts = self._ask("annotation", _VERDICT, fields, interview, progress)
        places = {dimension: place for place, dimension in enumerate(DIMENSIONS)}
        rows = np.zeros((len(asked), len(DIMENSIONS), 3))
        for (k, own), answer in zip(pairs, verdicts, strict=True):
            if answer is not None:
                said = answer.verdict
                rows[k, places[own.question]] += (said == "right", said == "wrong", 1)
        for row, each in zip(rows, asked, strict=True):
            if not each.asked:  # without a word, it says nothing
                for own in each.questions:
                    row[places[own.question], 2] += 1
        return rows.reshape(len(rows), -1)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return means over captions; or of dimensions, and the F1 of each."""
        if self.preset != "capability":
            scores: FloatArray = super().scores(totals)
            return scores
        right, wrong, count = np.moveaxis(totals.reshape(*totals.shape[:-1], -1, 3), -1, 0)
        hits = right + wrong
        with np.errstate(invalid="ignore"):
            recall, hit_rate = right / count, hits / count
            precision = right / np.where(hits > 0, hits, np.where(count > 0, 1.0, np.nan))
            f1 = 2 * right / (hits + count)  # the harmonic mean of right/hits and right/count
            means = list(map(mean_known, (f1, precision, recall, hit_rate)))
        together: FloatArray = np.concatenate([np.stack(means, axis=-1), f1], axis=-1)
        return together

    def notes(self, prepared: Asked) -> list[str]:
        """What it took, and which questions nobody was asked."""
        notes = super().notes(prepared)
        if without := [item for item in self._questions() if item not in prepared.items]:
            notes.append(
                f"Warning: {self.name}: {counted(len(without), 'item')} of {self.file} "
                f"({first_few(without)}) have no caption, and are not counted."
            )
        return notes


class _CaptionQuestions(NamedTuple):
    """A caption, and the questions about its item."""

    caption: str
    item: str
    questions: list[AskedQuestion]

    @property
    def asked(self) -> list[AskedQuestion]:
        """The questions that are put to the model: none about a caption without a word."""
        return self.questions if any(map(str.isalnum, self.caption)) else []
