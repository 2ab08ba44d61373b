"""VerbNet 3.x from the user's own copy: frames of verbs, with the roles of their parts.

VerbNet is never shipped with reelscore: its files state no licence that would allow it.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reelscore.errors import DataError

OBJECT_ROLES = frozenset(("Patient", "Theme", "Recipient", "Beneficiary", "Topic"))
PLACE_ROLES = frozenset(
    ("Location", "Destination", "Source", "Trajectory", "Initial_Location", "Goal")
)
_ANIMATE = frozenset(("animate", "human", "person", "animal"))


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
    """Read VerbNet's XML files: the frames of each WordNet sense key.

    Raises:
        DataError: If the folder holds no VerbNet files, or one cannot be read.
    """
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
