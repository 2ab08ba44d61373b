"""What raters read and see, for owners to edit: a form, or everything as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import Depends, Form, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore._records import resolved
from reelscore.campaigns.campaign import HOUR, Campaign
from reelscore.campaigns.pages.open_campaigns import Chosen, campaigns_of
from reelscore.campaigns.pages.organisers.new_campaign import Hours
from reelscore.campaigns.pages.rater_pages import (
    KEY,
    CheckQuestion,
    Pages,
    read_pages,
)
from reelscore.campaigns.protocols import Practice, Protocol, Range
from reelscore.errors import DataError
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Desk, Owner
from reelscore.web.site import FromOurForm

_RIGHT = "*"  # before the right choice
_USUAL = Pages()
_PRACTICE = (
    "practice_captions",
    "practice_item",
    "practice_context",
    "practice_expected",
    "practice_feedback",
)
_OTHERS = ("instructions", "practice", "check", "contexts")  # forms have these as text, or not
_SAME = tuple(name for name in Pages.__struct_fields__ if name not in _OTHERS)
_TICKS = tuple(name for name in _SAME if isinstance(getattr(_USUAL, name), bool))
_NEEDED = ("title", "currency", "price", "fee", "hits_per_rater")  # as usual where empty
Fields = Mapping[str, Any]  # of the form; parts of practice tasks and questions are lists
router = Router(prefix=PATH + "/c/{campaign}")


def fields_of(pages: Pages, protocol: Protocol) -> Fields:
    """Fill the form with what a campaign has."""
    practice = pages.practice_for(protocol)
    return {
        **{name: getattr(pages, name) for name in _SAME},
        "instructions": "\n\n".join(pages.instructions_for(protocol)),
        "practice_captions": ["\n".join(each.captions) for each in practice],
        "practice_item": [each.item for each in practice],
        "practice_context": [each.context for each in practice],
        "practice_expected": [_ranges_text(each) for each in practice],
        "practice_feedback": [each.feedback for each in practice],
        "question": [each.question for each in pages.check],
        "choices": [_choices_text(each) for each in pages.check],
    }


async def sent_fields(request: Request) -> Fields:
    """Take what a browser sends of the form: of boxes that are not ticked, nothing."""
    form = await request.form()
    texts = {name: _plain(str(form.get(name, ""))) for name in (*_SAME, "instructions")}
    usual = {name: getattr(_USUAL, name) for name in _NEEDED if not texts[name]}
    parts = {
        name: [_plain(str(each)) for each in form.getlist(name)]
        for name in (*_PRACTICE, "question", "choices")
    }
    for together in (_PRACTICE, ("question", "choices")):
        if len({len(parts[name]) for name in together}) > 1:
            raise DataError("A part of a practice task or of a question is missing in the form.")
    return {**texts, **usual, **{name: name in form for name in _TICKS}, **parts}


def pages_of(fields: Fields, protocol: Protocol) -> dict[str, object]:
    """Return what the form says, without what is as usual.

    Raises:
        DataError: If a part cannot be read.
    """
    parts = [fields[name] for name in _PRACTICE]
    practice = tuple(
        Practice(tuple(_lines(captions)), _ranges(expected), feedback, item, context)
        for captions, item, context, expected, feedback in zip(*parts, strict=True)
        if captions
    )
    usual = "\n\n".join(_USUAL.instructions_for(protocol))
    check = tuple(
        _question(question, _lines(choices))
        for question, choices in zip(fields["question"], fields["choices"], strict=True)
        if question
    )
    try:
        same = msgspec.convert(
            {name: fields[name] for name in _SAME}, resolved(Pages), strict=False
        )
    except msgspec.ValidationError as error:
        raise DataError(f"The form: {error}.") from None
    said: dict[str, object] = {name: getattr(same, name) for name in _SAME}
    said["instructions"] = "" if fields["instructions"] == usual else fields["instructions"]
    said |= {"practice": None if practice == protocol.practice else practice, "check": check}
    return {name: value for name, value in said.items() if value != getattr(_USUAL, name)}


def _plain(text: str) -> str:
    """Take what browsers make of the ends of lines back."""
    return text.replace("\r\n", "\n").strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _ranges_text(practice: Practice) -> str:
    lines = []
    for name, ranges in practice.expected.items():
        texts = (f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ranges)
        lines.append(f"{name}: {', '.join(texts)}")
    return "\n".join(lines)


def _ranges(text: str) -> dict[str, list[Range]]:
    expected: dict[str, list[Range]] = {}
    for line in _lines(text):
        name, _, ranges = line.partition(":")
        try:
            ends = [each.partition(" to ") for each in ranges.split(",")]
            expected[name.strip()] = [(float(low), float(high or low)) for low, _, high in ends]
        except ValueError:
            raise DataError(
                f"Expected answers {line[:200]!r}; write them such as 'adequacy: 70 to 100', or "
                "for ranks 'grammar: 1, 2 to 3, 2 to 3'."
            ) from None
    return expected


def _choices_text(question: CheckQuestion) -> str:
    return "\n".join(
        f"{_RIGHT} {choice}" if k == question.right else choice
        for k, choice in enumerate(question.choices)
    )


def _question(question: str, choices: Sequence[str]) -> CheckQuestion:
    right = [k for k, choice in enumerate(choices) if choice.startswith(_RIGHT)]
    if len(right) != 1 or len(choices) < 2:
        raise DataError(
            f"The question {question[:200]!r} needs at least two choices, and an asterisk before "
            "the one that is right."
        )
    return CheckQuestion(question, tuple(each.lstrip(f"{_RIGHT} ") for each in choices), right[0])


@router.get("/pages")
def show_pages(desk: Owner, campaign: Chosen) -> Response:
    """Show what raters are told, for editing."""
    return _form(desk, campaign, fields_of(read_pages(campaign.settings), campaign.protocol))


@router.post("/pages", dependencies=[FromOurForm])
def set_pages(
    desk: Owner, campaign: Chosen, fields: Annotated[Fields, Depends(sent_fields)]
) -> Response:
    """Replace what raters are told by what the form says; texts by item stay."""
    try:
        wanted = msgspec.to_builtins(pages_of(fields, campaign.protocol))
        contexts = read_pages(campaign.settings).contexts
        _store(desk, campaign, {**wanted, "contexts": contexts} if contexts else wanted)
    except DataError as error:
        page = _form(desk, campaign, fields, str(error))
        page.status_code = 422
        return page
    return desk.go(f"/c/{campaign.id}/pages", "The texts are saved.")


@router.post("/pages/json", dependencies=[FromOurForm])
def set_pages_as_json(
    desk: Owner, campaign: Chosen, text: Annotated[str, Form(max_length=500_000)]
) -> Response:
    """Replace what raters are told by what a text says."""
    try:
        wanted = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(422, f"This is not valid JSON: {error}.") from None
    _store(desk, campaign, wanted)
    return desk.go(f"/c/{campaign.id}/pages", "The texts are saved.")


@router.post("/hold", dependencies=[FromOurForm])
def set_hold(desk: Owner, campaign: Chosen, hold: Hours) -> Response:
    """Change after how many hours without a sign of its rater a HIT returns to the pool."""
    changed = campaign.set_hold(hold * HOUR, actor=desk.account.name)
    campaigns_of(desk.site).renew(changed)
    return desk.go(f"/c/{campaign.id}/pages", f"HITs are held for {hold:g} hours.")


def _form(desk: Desk, campaign: Campaign, fields: Fields, error: str = "") -> Response:
    pages = read_pages(campaign.settings)
    return desk.page(
        "rater_texts.html",
        campaign=campaign,
        fields=fields,
        contexts=len(pages.contexts),
        text=msgspec.json.format(msgspec.json.encode(pages), indent=2).decode(),
        example="; ".join(fields_of(Pages(), campaign.protocol)["practice_expected"][:1]),
        error=error,
    )


def _store(desk: Desk, campaign: Campaign, wanted: object) -> None:
    settings = {**campaign.settings, KEY: wanted}
    # says what is wrong before anything is stored
    pages = read_pages(settings)
    for practice in pages.practice_for(campaign.protocol):
        practice.check(campaign.protocol)
    if pages.open and settings.get("blind"):
        raise DataError(
            "Raters of this campaign see references of a blind test set; it cannot be open to "
            "anybody. Invite raters by links."
        )
    campaign.change_settings({KEY: wanted})
    campaign.decide("pages", "", actor=desk.account.name, reason="the pages of raters were changed")
