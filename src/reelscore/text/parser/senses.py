"""Which meaning a verb has in its clause, by WordNet and, from the user's own copy, VerbNet 3.x.

VerbNet is never shipped with reelscore: its files state no licence that would allow it.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from reelscore.errors import DataError, check_choice
from reelscore.text.parser.lexicon import Lexicon, Sense, word_set
from reelscore.text.parser.roles import Clause, Filler

OBJECT_ROLES = word_set("Patient Theme Recipient Beneficiary Topic")
PLACE_ROLES = word_set("Location Destination Source Trajectory Initial_Location Goal")
_ANIMATE = word_set("animate human person animal")


@dataclass(frozen=True, slots=True)
class Part:
    """A noun of a frame: its role, the prepositions before it, whether it must be alive."""

    role: str
    prepositions: frozenset[str] | None = None  # None: no preposition; empty: any
    animate: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """A way to build a sentence with a verb, such as `NP V NP PP.recipient`."""

    verb_class: str
    name: str
    subject: Part
    parts: tuple[Part, ...]


def read_verbnet(folder: str | Path) -> dict[str, list[Frame]]:
    """Read VerbNet's XML files: the frames of each WordNet sense key."""
    files = sorted(Path(folder).glob("*.xml"))
    frames: dict[str, list[Frame]] = defaultdict(list)
    for path in files:
        try:
            root = xml.parse(path).getroot()
        except xml.ParseError as error:
            raise DataError(f"{path}: not a VerbNet file: {error}.") from error
        if root.tag == "VNCLASS":
            for key, frame in _class_frames(root, [], {}):
                frames[key].append(frame)
    if not frames:
        raise DataError(
            f"{folder}: no VerbNet classes found. Expected the folder with VerbNet's files, "
            "such as give-13.1.xml."
        )
    return dict(frames)


def _class_frames(
    element: xml.Element, inherited: list[Frame], animate: dict[str, bool]
) -> Iterator[tuple[str, Frame]]:
    """Sense keys and frames of a class and its subclasses, which inherit both."""
    animate = animate | {
        role.get("type", ""): _is_animate(role) for role in element.iterfind("THEMROLES/THEMROLE")
    }
    name = element.get("ID", "")
    own = [_frame(name, frame, animate) for frame in element.iterfind("FRAMES/FRAME")]
    frames = [*inherited, *(frame for frame in own if frame is not None)]
    for member in element.iterfind("MEMBERS/MEMBER"):
        for key in member.get("wn", "").split():
            yield from ((key.lstrip("?"), frame) for frame in frames)
    for subclass in element.iterfind("SUBCLASSES/VNSUBCLASS"):
        yield from _class_frames(subclass, frames, animate)


def _is_animate(role: xml.Element) -> bool:
    restrictions = list(role.iterfind("SELRESTRS//SELRESTR")) + list(role.iterfind("SELRESTRS"))
    wanted = [r.get("type") for r in restrictions if r.get("Value") == "+"]
    return bool(wanted) and all(kind in _ANIMATE for kind in wanted)


def _frame(name: str, frame: xml.Element, animate: dict[str, bool]) -> Frame | None:
    description = frame.find("DESCRIPTION")
    primary = description.get("primary", "") if description is not None else ""
    parts: list[Part] = []
    subject: Part | None = None
    prepositions: frozenset[str] | None = None
    for slot in frame.iterfind("SYNTAX/*"):
        if slot.tag == "VERB":
            subject = parts[0] if parts else None
            parts = []
        elif slot.tag == "PREP":
            words = slot.get("value", "").replace("|", " ").lower().split()
            prepositions = frozenset(words)
        elif slot.tag == "NP":
            role = slot.get("value", "").lstrip("?")
            parts.append(Part(role, prepositions, animate.get(role, False)))
            prepositions = None
    return Frame(name, primary, subject, tuple(parts)) if subject else None


SenseRule = Literal["first", "collocations", "frames", "verbnet"]
RULES: tuple[SenseRule, ...] = ("first", "collocations", "frames", "verbnet")

_THING_SUBJECTS = frozenset((1, 3, 4, 5, 6, 10, 11, 12))
_INTRANSITIVE = frozenset((1, 2, 3))
_WITH_PHRASE = frozenset((4, 22, 12, 27))
_WITH_THING, _WITH_THING_AND_PHRASE = frozenset((8, 11, 14, 15)), frozenset((21,))
_WITH_PERSON, _WITH_PERSON_AND_PHRASE = frozenset((9, 10, 17, 18)), frozenset((20,))
_ANIMATE_PRONOUNS = word_set("he she they who him her them someone somebody i you we")


class Senses:
    """Gives the verbs of clauses their senses by one of four rules.

    `first` takes WordNet's first sense, the most frequent one. `collocations` does too, except
    for the few pairs of verb and object in the lexicon's table. `frames` takes the first sense
    with a sentence frame that fits the clause. `verbnet` takes the first sense with a VerbNet
    frame that fits, and the roles that the frame gives.
    """

    def __init__(
        self, lexicon: Lexicon, rule: str, frames: Mapping[str, Sequence[Frame]] | None = None
    ) -> None:
        check_choice("rule for senses", rule, RULES)
        self._lexicon, self._frames = lexicon, frames or {}
        rules: dict[str, Callable[[Clause, tuple[Sense, ...]], Clause]] = {
            "first": self._first,
            "collocations": self._collocation,
            "frames": self._sentence_frame,
            "verbnet": self._verbnet,
        }
        self._rule = rules[rule]

    def apply(self, clause: Clause) -> Clause:
        """The clause with the sense of its verb."""
        if clause.verb is None:
            return clause
        senses = self._lexicon.senses(clause.verb.lemma, "v")
        return self._rule(clause, senses) if senses else clause

    def _first(self, clause: Clause, senses: tuple[Sense, ...]) -> Clause:
        return _with_sense(clause, senses[0])

    def _collocation(self, clause: Clause, senses: tuple[Sense, ...]) -> Clause:
        for entry in self._lexicon.header["collocations"]:
            if clause.verb is None or entry["verb"] != clause.verb.lemma or clause.object is None:
                continue
            noun = clause.object
            kinds = self._lexicon.senses(noun.lemma, "n")[:1]
            if noun.lemma in entry.get("words", ()) or any(
                self._lexicon.is_a(kind, *entry.get("object", ())) for kind in kinds
            ):
                return _with_sense(clause, senses[entry["sense"] - 1])
        return _with_sense(clause, senses[0])

    def _sentence_frame(self, clause: Clause, senses: tuple[Sense, ...]) -> Clause:
        has_phrase = bool(clause.phrases)
        if clause.object is None:
            allowed = _WITH_PHRASE | _INTRANSITIVE if has_phrase else _INTRANSITIVE
        elif self._is_animate(clause.object):
            allowed = _WITH_PERSON | (_WITH_PERSON_AND_PHRASE if has_phrase else frozenset())
        else:
            allowed = _WITH_THING | (_WITH_THING_AND_PHRASE if has_phrase else frozenset())
        subject_is_thing = clause.subject is not None and not self._is_animate(clause.subject)
        for sense in senses:
            fitting = sorted(
                frame
                for frame in sense.frames & allowed
                if (frame in _THING_SUBJECTS) == subject_is_thing
            )
            if fitting:
                return _with_sense(clause, sense, f"WordNet frame {fitting[0]}")
        return _with_sense(clause, senses[0])

    def _is_animate(self, noun: Filler) -> bool:
        if noun.lemma in _ANIMATE_PRONOUNS:
            return True
        if noun.tag in ("NNP", "NNPS"):
            return True
        senses = self._lexicon.senses(noun.lemma, "n")[:1]
        return any(
            self._lexicon.is_a(s, "person", "animal", "people", "social_group") for s in senses
        )

    def _verbnet(self, clause: Clause, senses: tuple[Sense, ...]) -> Clause:
        for sense in senses:
            fitting = [
                (len(frame.parts), -number, frame, fillers)
                for number, frame in enumerate(self._frames.get(sense.key, ()))
                if (fillers := self._fillers(clause, frame)) is not None
            ]
            if fitting:
                *_, frame, fillers = max(fitting, key=lambda fit: fit[:2])
                clause = _with_sense(clause, sense, f"{frame.verb_class}: {frame.name}")
                return _with_roles(clause, frame, fillers)
        return _with_sense(clause, senses[0])

    def _fillers(self, clause: Clause, frame: Frame) -> list[Filler] | None:
        """The nouns of the clause in the places of the frame; None if it does not fit."""
        if clause.subject is not None and not self._fits(frame.subject, clause.subject):
            return None
        bare = [part for part in frame.parts if part.prepositions is None]
        in_phrase = any(noun == clause.object for _, noun in clause.phrases)  # as in *look at*
        if len(bare) != (clause.object is not None and not in_phrase):
            return None
        fillers: list[Filler] = []
        phrases = list(clause.phrases)
        for part in frame.parts:
            if part.prepositions is None:
                noun = clause.object
            else:
                fitting = [p for p in phrases if not part.prepositions or p[0] in part.prepositions]
                noun = fitting[0][1] if fitting else None
                phrases = [p for p in phrases if p not in fitting[:1]]
            if noun is None or not self._fits(part, noun):
                return None
            fillers.append(noun)
        return fillers

    def _fits(self, part: Part, noun: Filler) -> bool:
        return self._is_animate(noun) if part.animate else True


def _with_sense(clause: Clause, sense: Sense, frame: str | None = None) -> Clause:
    assert clause.verb is not None
    return replace(clause, verb=replace(clause.verb, sense=sense), frame=frame)


def _with_roles(clause: Clause, frame: Frame, fillers: list[Filler]) -> Clause:
    """Phrases that fill a role of the object or of a place, where the clause has none."""
    for part, noun in zip(frame.parts, fillers, strict=True):
        if part.role in OBJECT_ROLES and clause.object is None:
            clause = replace(clause, object=noun)
            if clause.location == noun:
                clause = replace(clause, location=None)
        elif part.role in PLACE_ROLES and part.prepositions is not None:
            clause = replace(clause, location=clause.location or noun)
    return clause
