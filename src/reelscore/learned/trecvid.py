"""The TRECVid human assessments as captions to learn from, all references of a year together.

The two judgments of a year ship different references: MA-2016 and MA-2017 have HUMAN-B's captions,
SA has HUMAN-A's, and HUMAN-B's among the systems. Items are named alike, so that every caption of
a year can be compared with all captions people wrote of its video, but for the author's own.
"""

from __future__ import annotations

from pathlib import Path

from reelscore.data.datasets import trecvid_ha
from reelscore.data.datasets.trecvid_ha import YEARS, Assessment
from reelscore.learned.judged_captions import JudgedCaption

_PERSON = "HUMAN-"


def load_captions(path: str | Path, *, unjudged: bool = True) -> list[JudgedCaption]:
    """Load the captions of all years, judged once (``SA``) and by many (``MA``).

    Args:
        path: A copy of the data set, as for `reelscore.data.datasets.trecvid_ha.load`.
        unjudged: Also give the systems' captions that nobody judged.

    Returns:
        The captions; a year is a group.
    """
    captions = []
    for year in YEARS:
        single, multiple = (
            trecvid_ha.load(path, f"{kind}-{year}", people=True) for kind in ("SA", "MA")
        )
        people = people_of(single, multiple)
        for data in (single, multiple):
            captions += _judged(data, people)
        if unjudged:
            captions += _unjudged(single, people)
    return captions


def people_of(*folders: Assessment) -> dict[str, dict[str, str]]:
    """Gather what people wrote of each item, by item and person.

    Args:
        folders: The folders of one year.
    """
    by_item: dict[str, dict[str, str]] = {}
    for data in folders:
        persons = {n: texts for n, texts in data.candidates.items() if n.startswith(_PERSON)}
        for name, texts in {**persons, **data.annotators}.items():
            for item, text in texts.items():
                by_item.setdefault(item, {})[name] = text
    return by_item


def _judged(data: Assessment, people: dict[str, dict[str, str]]) -> list[JudgedCaption]:
    kind, _, year = data.folder.partition("-")
    return [
        JudgedCaption(
            group=year,
            kind=kind,
            system=name,
            item=f"{year}/{item}",
            candidate=data.candidates[name][item],
            references=_others(people[item], name),
            score=score,
            raw=data.human[name]["raw"].items[item],
            ratings=data.judgments[name][item],
            person=name.startswith(_PERSON),
        )
        for name in data.human.systems
        for item, score in data.human[name]["z"].items.to_dict().items()
    ]


def _unjudged(data: Assessment, people: dict[str, dict[str, str]]) -> list[JudgedCaption]:
    year = data.folder.partition("-")[2]
    return [
        JudgedCaption(year, "", name, f"{year}/{item}", text, _others(people[item], name))
        for name, texts in data.candidates.items()
        if not name.startswith(_PERSON)
        for item, text in texts.items()
        if item not in data.human[name]["z"].items
    ]


def _others(people: dict[str, str], author: str) -> tuple[str, ...]:
    return tuple(text for name, text in sorted(people.items()) if name != author)
