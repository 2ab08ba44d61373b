"""The field and column names under which records may keep their item id and captions."""

from __future__ import annotations

from collections.abc import Collection

# `id` comes last: beside a more telling name it numbers the annotation, as in COCO.
ITEM_FIELDS = ("item", "item_id", "clip_id", "video_id", "image_id", "id")
CAPTION_FIELDS = ("caption", "text", "sentence", "reference")
CAPTIONS_FIELDS = ("captions", "references")


def item_field(names: Collection[str]) -> str | None:
    """Find the field that holds the item id: the first of `ITEM_FIELDS` there is.

    >>> item_field(["id", "video_id", "caption"])
    'video_id'
    """
    return next((name for name in ITEM_FIELDS if name in names), None)


def caption_fields(names: Collection[str]) -> list[str]:
    """Find the fields that may hold captions; more than one is for the caller to refuse.

    >>> caption_fields(["id", "caption", "references"])
    ['caption', 'references']
    """
    return [name for name in CAPTION_FIELDS + CAPTIONS_FIELDS if name in names]


def missing_item_field() -> str:
    """Say that there is no item id, and what would be one."""
    return f"no item id; expected one of {', '.join(ITEM_FIELDS)}"


def missing_caption_field() -> str:
    """Say that there is no caption, and what would be one."""
    return f"no caption; expected one of {', '.join(CAPTION_FIELDS + CAPTIONS_FIELDS)}"


def several_caption_fields(names: list[str]) -> str:
    """Say that it is unclear where the captions are."""
    return f"captions in several fields ({', '.join(names)}); keep one of them"
