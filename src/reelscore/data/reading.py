"""How to read files where their content does not tell: the options that every reader takes.

Records keep their item id and captions under many names. A name says what its captions are: a
system's (`prediction`), people's (`reference`), or either of them (`caption`), which is settled by
what the file is read as. References are never candidates. Names are compared without case, spaces,
hyphens and underscores: `videoID` is `video_id`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from reelscore.data.checks import Problems, counted
from reelscore.errors import DataError

Role = Literal["candidates", "references"]
Record = tuple[int, object, object]  # number, item id and caption or captions, unchecked

# Beside the names before it, `id` numbers the annotation, as in COCO. The names after it may also
# be those of a file that belongs to the item, so that they count only where there is nothing else.
ITEM_FIELDS = (
    *("item", "item_id", "clip_id", "video_id", "image_id", "id"),
    *("video", "vid", "clip", "clip_name", "video_name", "youtube_id", "filename", "file_name"),
    "file_id",
    *("image", "image_name", "img_id", "imgid", "audio_id"),
)
CAPTION_FIELDS = ("caption", "text", "sentence", "desc", "descs")
ROLE_FIELDS: dict[Role, tuple[str, ...]] = {
    "candidates": (
        *("candidate", "prediction", "predictions", "predicted", "predicted_caption", "pred"),
        *("preds", "pred_caption", "hypothesis", "hypotheses", "hyp", "hyps", "generated"),
        *("generated_caption", "generated_text", "output", "model_output", "response", "res"),
        *("candidates", "caption_predicted", "mult_captions_predicted"),
    ),
    "references": (
        *("reference", "references", "ref", "refs", "captions"),
        *("ground_truth", "groundtruth", "gt", "gts", "target", "targets"),
    ),
}
_SHOWN = 12  # fields that a message lists


class FieldNames(msgspec.Struct, frozen=True):
    """Where records keep their item id and captions: under names of the user, or the usual ones."""

    item: tuple[str, ...] = ()  # names of the item id; the first that a file has counts
    # names of a system's captions, likewise. References are there too, in a file that has no other
    # field for them
    caption: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()  # names of references; all that a file has count

    def item_field(self, names: Collection[str]) -> str | None:
        """Find the field that holds the item id."""
        return next(iter(_matching(names, self.item or ITEM_FIELDS)), None)

    def caption_fields(self, names: Collection[str], role: Role) -> list[str]:
        """Find the fields that may hold captions of a role; the caller refuses several."""
        if role == "references" and self.reference:
            return _matching(names, self.reference)
        own = _matching(names, self.caption)[:1]
        if role == "candidates" and self.caption:
            return own
        others = own if role == "references" else _matching(names, self.reference)
        usual = _matching(names, CAPTION_FIELDS + ROLE_FIELDS[role])
        named = _matching(names, ROLE_FIELDS[role])
        if role == "references" and named and not _matching(names, ROLE_FIELDS["candidates"]):
            usual = named  # so `caption` beside them holds the system's
        return [name for name in usual if name not in others] or own

    def role_fields(self, names: Collection[str], role: Role) -> list[str]:
        """Find the fields whose names say that their captions are of a role.

        >>> FieldNames().role_fields(["id", "caption", "reference"], "references")
        ['reference']
        """
        named = self.caption if role == "candidates" else self.reference
        others = self.reference if role == "candidates" else self.caption
        usual = _matching(names, named or ROLE_FIELDS[role])
        return [name for name in usual if name not in _matching(names, others)]

    def has_captions(self, names: Collection[str]) -> bool:
        """Return whether any field may hold captions, of candidates or of references."""
        return any(self.caption_fields(names, role) for role in ROLE_FIELDS)

    def are_of_record(self, names: Collection[str]) -> bool:
        """Return whether names are those of a record's fields: an item id, and captions.

        The usual names count even where the user names others, which may be wrong.

        >>> FieldNames(item=("clipp",)).are_of_record(["clip", "caption"])
        True
        """
        return any(
            fields.item_field(names) is not None and fields.has_captions(names)
            for fields in (self, USUAL)
        )

    def fault(self, names: Collection[str], role: Role) -> str | None:
        """Return what is missing or unclear in the fields of a record, if anything is.

        >>> FieldNames(item=("clip",)).fault(["video_id", "caption"], "candidates")
        "no field 'clip' for the item id; there are video_id, caption"
        """
        if self.item_field(names) is None:
            return self._missing_item(names)
        return self.caption_fault(names, role)

    def caption_fault(self, names: Collection[str], role: Role) -> str | None:
        """Return what is missing or unclear in the fields of captions, if anything is."""
        captions = self.caption_fields(names, role)
        if not captions:
            return self._missing_captions(names, role)
        is_named = self.reference if role == "references" else self.caption
        if is_named or len(captions) == 1:
            return None
        return several_caption_fields(captions, role) + choosing(captions, role)

    def _missing_item(self, names: Collection[str]) -> str:
        if self.item:
            return f"no field {_either(self.item)} for the item id; {_there_are(names)}"
        return f'{MISSING_ITEM}. Or name it: id_field="NAME"; {_there_are(names)}'

    def _missing_captions(self, names: Collection[str], role: Role) -> str:
        named = self.reference if role == "references" else self.caption
        if named:
            return f"no field {_either(named)} for the {role}; {_there_are(names)}"
        return f"{missing_caption_field(names, role, self)}{choosing(['NAME'], role)}; " + (
            _there_are(names)
        )


USUAL = FieldNames()


MISSING_ITEM = f"no item id; expected one of {', '.join(ITEM_FIELDS)}"


def missing_caption_field(names: Collection[str], role: Role, fields: FieldNames = USUAL) -> str:
    """Return the message that there are no captions of a role, and where they would be."""
    other: Role = "references" if role == "candidates" else "candidates"
    expected = ", ".join(CAPTION_FIELDS + ROLE_FIELDS[role])
    if elsewhere := fields.role_fields(names, other):
        return (
            f"no {role[:-1]}, but {other} in {elsewhere[0]!r}; is this the right file? "
            f"{role.capitalize()} are under {expected}"
        )
    return f"no caption; expected one of {expected}"


def choosing(names: Sequence[str], role: Role) -> str:
    """Return how to choose a field of a file.

    >>> choosing(["caption", "text"], "references")
    ', or choose it: reference_field="caption"'
    """
    option = "caption_field" if role == "candidates" else "reference_field"
    return f', or choose it: {option}="{names[0]}"'


def several_caption_fields(names: list[str], role: Role) -> str:
    """Return the message that it is unclear where the captions are, and how to make it clear."""
    message = (
        f"captions in several fields ({', '.join(names)}), and all may be {role}; "
        "remove or rename all but one"
    )
    if names[0] in CAPTION_FIELDS and len(set(names)) > 1:
        other = "reference" if role == "candidates" else "prediction"
        message += f", such as {names[0]!r} to {other!r} if it holds {_PLURAL[other]}"
    return message


_PLURAL = {"reference": "references", "prediction": "a system's captions"}


def unnumbered(name: str) -> str:
    """Return the kind of a numbered column.

    >>> unnumbered("caption_2")
    'caption'
    """
    return re.sub(r"[ _-]?\d+$", "", name)


@lru_cache(maxsize=1024)
def same_name(name: str) -> str:
    """A name without what does not distinguish it from others.

    >>> same_name("Video ID") == same_name("video_id") == same_name("videoID")
    True
    """
    return name.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", " _-")


def _matching(names: Collection[str], wanted: Iterable[str]) -> list[str]:
    """Find the names that are among those wanted, in the order of the latter."""
    by_name: dict[str, str] = {}
    for name in names:
        by_name.setdefault(same_name(name), name)
    keys = dict.fromkeys(map(same_name, wanted))
    return [by_name[key] for key in keys if key in by_name]


def _either(names: Collection[str]) -> str:
    return " or ".join(map(repr, names))


def _there_are(names: Collection[str]) -> str:
    shown = list(dict.fromkeys(names))
    rest = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"there are {', '.join(shown[:_SHOWN])}{rest}" if shown else "there are none"


IN_ORDER = "in order"  # ends what a file was read as, where its items have no ids


_KEYS = {"id_field": "id", "caption_field": "caption", "reference_field": "reference"}


class Reading(msgspec.Struct, frozen=True, dict=True, rename=_KEYS):
    """How to read caption files.

    Attributes:
        format: The format of all files; by default each file's content tells.
        id_field: The field or column of the item ids; of several, separated by commas, the first
            that a file has.
        caption_field: The field of a system's captions, likewise.
        reference_field: The field of the references; of several, all that a file has.
        header: The names of the columns of tables that have no header, separated by commas.
        encoding: The encoding of files that are not UTF-8.
        split: Which parts of a data set to take, separated by commas, from files that name them.

    >>> Reading(id_field="clip, video").fields.item
    ('clip', 'video')
    """

    format: str | None = None
    id_field: str | None = None
    caption_field: str | None = None
    reference_field: str | None = None
    header: str | None = None
    encoding: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for option in ("id_field", "caption_field", "reference_field", "header", "split"):
            text = getattr(self, option)
            if text is not None and not all(_parts(text)):
                raise DataError(f'{option}="{text}" has an empty name.')
        if self.header is not None and len(_parts(self.header)) < 2:
            raise DataError(
                f'header="{self.header}" names one column; expected several, such as "id,caption".'
            )
        if self.encoding is not None:
            _check_encoding(self.encoding)

    @cached_property
    def fields(self) -> FieldNames:
        """The fields the user names."""
        named = (self.id_field, self.caption_field, self.reference_field)
        return FieldNames(*(_parts(text) if text else () for text in named))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a table without a header."""
        return _parts(self.header) if self.header else ()

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The parts of a data set to take; all if there are none."""
        return _parts(self.split) if self.split else ()


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _check_encoding(name: str) -> None:
    import codecs

    try:
        codecs.lookup(name)
        "a".encode(name)
    except (LookupError, ValueError):
        raise DataError(
            f'Unknown encoding "{name}"; expected one such as latin-1, cp1252, utf-16 or gb18030.'
        ) from None


class Request(msgspec.Struct):
    """What is wanted of one file, and what its reader found out about it."""

    role: Role  # whether candidates or references are wanted
    problems: Problems  # the bad records
    reading: Reading = msgspec.field(default_factory=Reading)  # how to read the file
    # the part of the data set that each item belongs to, where the file says it
    splits: dict[str, str] = msgspec.field(default_factory=dict)
    read_as: str = ""  # what the file was read as, where a reader of the scores has to know it
    # whether items of a blind test, which have no caption, are taken with an empty one
    blind: bool = False

    def takes(self, item: object, split: object) -> bool:
        """Note the part of the data set that an item is in, and tell whether it is wanted."""
        if not isinstance(split, str):
            return True
        self.splits[str(item)] = split
        return not self.reading.splits or split in self.reading.splits

    def taken(self) -> dict[str, str]:
        """The part of each item that was taken, where the file says it."""
        wanted = self.reading.splits
        return {i: part for i, part in self.splits.items() if not wanted or part in wanted}

    def check_splits(self, path: str) -> None:
        """Refuse a part of the data set that the file does not have."""
        there = set(self.splits.values())
        if there and self.reading.splits and not there & set(self.reading.splits):
            raise DataError(
                f'{path}: no item has split="{self.reading.split}"; '
                f"there are {listed_splits(self.splits.values())}."
            )


def part_with(items: Iterable[str], splits: Mapping[str, str]) -> str | None:
    """Name the part of a data set that all items belong to; ``None`` if there is no such part."""
    if len({*splits.values()}) < 2:
        return None
    parts = {splits.get(item) for item in items}
    return parts.pop() if len(parts) == 1 else None


def listed_splits(splits: Iterable[str]) -> str:
    """Name the parts of a data set with their sizes.

    >>> listed_splits(["train", "train", "test"])
    'train (2 items), test (1 item)'
    """
    from collections import Counter

    counts = Counter(splits).items()
    return ", ".join(f"{name} ({counted(n, 'item')})" for name, n in counts)
