"""Judged captions: what a learned metric is trained on and tested with.

One caption with its references and people's score is a `JudgedCaption`; captions that nobody
judged carry no score and serve to practise on. Files have one JSON object a line.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from reelscore.errors import DataError
from reelscore.metrics.training_data import TrainingItems


@dataclass(frozen=True)
class JudgedCaption:
    """A caption, its references, and what people said of it.

    Attributes:
        group: What is held out together, such as a year.
        kind: How it was judged, such as ``MA``; each kind and group has its own level and spread.
        system: Who wrote it.
        item: The video, unique over all groups.
        candidate: The caption.
        references: Captions of the same video by people other than its author.
        score: People's standardised score; ``None`` where nobody judged it.
        raw: People's score on 0–100, where known.
        ratings: How many ratings the score is the mean of.
        person: Whether a person wrote it.
    """

    group: str
    kind: str
    system: str
    item: str
    candidate: str
    references: tuple[str, ...]
    score: float | None = None
    raw: float | None = None
    ratings: int = 1
    person: bool = False

    @property
    def campaign(self) -> str:
        """The kind and the group: judgments that can be compared with each other."""
        return f"{self.kind}-{self.group}" if self.kind else self.group


def training_items(captions: Iterable[JudgedCaption]) -> TrainingItems:
    """Hash the references of captions, by group, so that their items can be recognised."""
    references: dict[str, set[str]] = {}
    for caption in captions:
        references.setdefault(caption.group, set()).update(caption.references)
    return TrainingItems.of(references)


def write_captions(path: str | Path, captions: Iterable[JudgedCaption]) -> None:
    """Write judged captions, one JSON object a line.

    Args:
        path: The file to write.
        captions: The judged captions.

    >>> from tempfile import TemporaryDirectory
    >>> one = JudgedCaption("2016", "MA", "me", "2016/1", "a man", ("a boy",), 0.5)
    >>> with TemporaryDirectory() as folder:
    ...     write_captions(Path(folder, "judged.jsonl"), [one])
    ...     read_captions(Path(folder, "judged.jsonl")) == [one]
    True
    """
    lines = (json.dumps(asdict(caption), ensure_ascii=False) for caption in captions)
    Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def read_captions(path: str | Path) -> list[JudgedCaption]:
    """Read what `write_captions` wrote.

    Args:
        path: The file.

    Raises:
        DataError: If the file cannot be read, or a line is not a judged caption.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    captions = []
    for number, line in enumerate(lines, start=1):
        try:
            fields = json.loads(line)
            captions.append(JudgedCaption(**{**fields, "references": tuple(fields["references"])}))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"{path}:{number}: not a judged caption ({error}); expected a JSON object with "
                "group, kind, system, item, candidate, references and score."
            ) from error
    return captions


def digest_of(captions: Iterable[JudgedCaption]) -> str:
    """Return a short hash that tells one set of captions from another."""
    digest = hashlib.sha256()
    for caption in captions:
        digest.update(repr(caption).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def from_tables(
    systems: Mapping[str, Mapping[str, str]],
    references: Mapping[str, Sequence[str]],
    human: Mapping[str, Mapping[str, float]],
    *,
    group: str,
    kind: str = "",
    ratings: Mapping[str, Mapping[str, int]] | None = None,
) -> list[JudgedCaption]:
    """Put captions, references and human scores together, each by system and item.

    Args:
        systems: Captions by system and item.
        references: References by item.
        human: Scores by system and item; captions without one come back without a score.
        group: What is held out together.
        kind: How the captions were judged.
        ratings: How many ratings each score is the mean of; 1 where not given.

    Raises:
        DataError: If a judged caption is missing.

    >>> own = from_tables({"me": {"1": "a man"}}, {"1": ["a boy"]}, {"me": {"1": 0.5}}, group="x")
    >>> own[0].item, own[0].score
    ('x/1', 0.5)
    """
    for name, scores in human.items():
        absent = [item for item in scores if item not in systems.get(name, {})]
        if absent:
            raise DataError(
                f"{group}: {len(absent)} judged captions of {name!r} are not among the captions "
                f"(first: {absent[0]!r}). Give the captions that were judged."
            )
    return [
        JudgedCaption(
            group=group,
            kind=kind,
            system=name,
            item=f"{group}/{item}",
            candidate=text,
            references=tuple(references.get(item, ())),
            score=human.get(name, {}).get(item),
            ratings=1 if ratings is None else ratings.get(name, {}).get(item, 1),
        )
        for name, texts in systems.items()
        for item, text in texts.items()
    ]


def check_captions(captions: Sequence[JudgedCaption]) -> None:
    """Refuse captions that nothing can be learned from, before hours are spent on them."""
    judged = [caption for caption in captions if caption.score is not None]
    if not judged:
        raise DataError(
            "No caption has a human score; expected captions that people judged. "
            "Check that systems and items are named alike in captions and judgments."
        )
    bare = [caption for caption in captions if not caption.references]
    if bare:
        raise DataError(
            f"{len(bare)} captions have no references (first: {bare[0].system!r}, item "
            f"{bare[0].item!r}); each needs at least one."
        )
    odd = [caption for caption in judged if not math.isfinite(caption.score or 0.0)]
    if odd:
        raise DataError(
            f"{len(odd)} human scores are not numbers (first: {odd[0].score!r} of "
            f"{odd[0].system!r}, item {odd[0].item!r}); leave such captions unjudged."
        )
    authors = Counter(caption.system for caption in judged)
    if len(authors) == 1:
        raise DataError(
            f"All {len(judged)} judged captions are by {next(iter(authors))!r}; expected two "
            "systems or more, or a metric learns one system's faults."
        )
    for campaign in dict.fromkeys(caption.campaign for caption in judged):
        own = [caption for caption in judged if caption.campaign == campaign]
        if len({caption.item for caption in own}) == 1:
            raise DataError(
                f"All judged captions of {campaign!r} are of one item, {own[0].item!r}; expected "
                "two items or more. Leave the group out, or join it with another."
            )
        if len({caption.score for caption in own}) == 1:
            raise DataError(
                f"All human scores of {campaign!r} are {own[0].score!r}; "
                "expected scores that differ."
            )
