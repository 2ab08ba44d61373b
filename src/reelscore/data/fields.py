"""The field and column names under which records may keep their item id and captions.

A name says what its captions are: a system's (`prediction`), people's (`reference`), or either of
them (`caption`), which is settled by what the file is read as. References are never candidates.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

Role = Literal["candidates", "references"]

# `id` comes last: beside a more telling name it numbers the annotation, as in COCO.
ITEM_FIELDS = ("item", "item_id", "clip_id", "video_id", "image_id", "id")
CAPTION_FIELDS = ("caption", "text", "sentence")
ROLE_FIELDS: dict[Role, tuple[str, ...]] = {
    "candidates": (
        *("candidate", "prediction", "predictions", "predicted", "predicted_caption", "pred"),
        *("pred_caption", "hypothesis", "hyp", "generated", "generated_caption", "generated_text"),
        *("output", "model_output", "response"),
    ),
    "references": (
        *("reference", "references", "ref", "refs", "captions"),
        *("ground_truth", "groundtruth", "gt", "gts", "target", "targets"),
    ),
}


def item_field(names: Collection[str]) -> str | None:
    """Find the field that holds the item id: the first of `ITEM_FIELDS` there is.

    >>> item_field(["id", "video_id", "caption"])
    'video_id'
    """
    return next((name for name in ITEM_FIELDS if name in names), None)


def caption_fields(names: Collection[str], role: Role) -> list[str]:
    """Find the fields that may hold captions of a role; several are for the caller to refuse.

    >>> caption_fields(["id", "prediction", "reference"], "candidates")
    ['prediction']
    >>> caption_fields(["id", "caption", "reference"], "references")
    ['caption', 'reference']
    """
    return [name for name in CAPTION_FIELDS + ROLE_FIELDS[role] if name in names]


def role_fields(names: Collection[str], role: Role) -> list[str]:
    """Find the fields whose names say that their captions are of a role.

    >>> role_fields(["id", "caption", "reference"], "references")
    ['reference']
    """
    return [name for name in ROLE_FIELDS[role] if name in names]


def has_captions(names: Collection[str]) -> bool:
    """Tell whether any field may hold captions, of candidates or of references.

    >>> has_captions(["id", "prediction"]), has_captions(["id", "score"])
    (True, False)
    """
    return any(caption_fields(names, role) for role in ROLE_FIELDS)


def missing_item_field() -> str:
    """Say that there is no item id, and what would be one."""
    return f"no item id; expected one of {', '.join(ITEM_FIELDS)}"


def missing_caption_field(names: Collection[str], role: Role) -> str:
    """Say that there are no captions of a role, and where they would be.

    >>> missing_caption_field(["id", "prediction"], "references")
    "no reference, but candidates in 'prediction'; is this the right file? References are under
    caption, text, sentence, reference, references, ref, refs, captions, ground_truth, groundtruth,
    gt, gts, target, targets"
    """
    other: Role = "references" if role == "candidates" else "candidates"
    expected = ", ".join(CAPTION_FIELDS + ROLE_FIELDS[role])
    if elsewhere := role_fields(names, other):
        return (
            f"no {role[:-1]}, but {other} in {elsewhere[0]!r}; is this the right file? "
            f"{role.capitalize()} are under {expected}"
        )
    return f"no caption; expected one of {expected}"


def several_caption_fields(names: list[str], role: Role) -> str:
    """Say that it is unclear where the captions are, and how to make it clear.

    >>> several_caption_fields(["caption", "prediction"], "candidates")
    "captions in several fields (caption, prediction), and all may be candidates; remove or rename
    all but one, such as 'caption' to 'reference' if it holds references"
    """
    message = (
        f"captions in several fields ({', '.join(names)}), and all may be {role}; "
        "remove or rename all but one"
    )
    if names[0] in CAPTION_FIELDS and len(set(names)) > 1:
        other = "reference" if role == "candidates" else "prediction"
        message += f", such as {names[0]!r} to {other!r} if it holds {_PLURAL[other]}"
    return message


_PLURAL = {"reference": "references", "prediction": "a system's captions"}
