"""What raters read and see, for owners to edit: a form, or everything as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from fastapi import Depends, Form
from fastapi.responses import Response
from starlette.exceptions import HTTPException

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

Line = Annotated[str, Form(max_length=2000)]
Text = Annotated[str, Form(max_length=50_000)]
Tick = Annotated[bool, Form()]
Amount = Annotated[float, Form(ge=0, le=1e6)]
Texts = Annotated[tuple[Text, ...], Form(max_length=100)]
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
router = Router(prefix=PATH + "/c/{campaign}")


@dataclass(frozen=True)
class Fields:
    """The form, as it is shown and as it comes back; lists have an entry for each part.

    >>> from reelscore.campaigns.protocols import PROTOCOLS
    >>> asked = PROTOCOLS["direct-assessment"]
    >>> fields = Fields.of(Pages(numbers=True), asked)
    >>> fields.practice_expected
    ('adequacy: 70 to 100', 'adequacy: 0 to 30')
    >>> fields.pages(asked)  # what is as usual is not stored
    {'numbers': True}
    """

    title: Line = ""
    instructions: Text = ""
    consent: Text = ""
    contact: Line = ""
    must_watch: Tick = False
    review: Tick = False
    numbers: Tick = False
    ties: Tick = False
    open: Tick = False
    mturk: Tick = False
    hits_per_rater: Annotated[int, Form(ge=0, le=100_000)] = 0
    video_url: Line = ""
    prolific_code: Line = ""
    screen_out_code: Line = ""
    no_consent_code: Line = ""
    no_work_code: Line = ""
    timed_out_code: Line = ""
    partial_code: Line = ""
    review_code: Line = ""
    rejected_code: Line = ""
    stopped_code: Line = ""
    price: Amount = 0.0
    fee: Amount = 0.2
    currency: Line = "USD"
    practice_captions: Texts = ()
    practice_item: Texts = ()
    practice_context: Texts = ()
    practice_expected: Texts = ()
    practice_feedback: Texts = ()
    question: Texts = ()
    choices: Texts = ()

    def __post_init__(self) -> None:
        parts = [getattr(self, name) for name in _PRACTICE]
        if len({len(part) for part in parts}) > 1 or len(self.question) != len(self.choices):
            raise DataError("A part of a practice task or of a question is missing in the form.")

    @classmethod
    def of(cls, pages: Pages, protocol: Protocol) -> Fields:
        """Fill the form with what a campaign has."""
        practice = pages.practice_for(protocol)
        return cls(
            instructions="\n\n".join(pages.instructions_for(protocol)),
            practice_captions=tuple("\n".join(each.captions) for each in practice),
            practice_item=tuple(each.item for each in practice),
            practice_context=tuple(each.context for each in practice),
            practice_expected=tuple(_ranges_text(each) for each in practice),
            practice_feedback=tuple(each.feedback for each in practice),
            question=tuple(each.question for each in pages.check),
            choices=tuple(_choices_text(each) for each in pages.check),
            **{name: getattr(pages, name) for name in _SAME},
        )

    def pages(self, protocol: Protocol) -> dict[str, object]:
        """Return what the form says, without what is as usual."""
        same = {name: getattr(self, name) for name in _SAME}
        said: dict[str, object] = {
            name: _plain(value) if isinstance(value, str) else value for name, value in same.items()
        }
        for name in ("title", "currency"):
            said[name] = said[name] or getattr(_USUAL, name)
        instructions = _plain(self.instructions)
        usual = "\n\n".join(_USUAL.instructions_for(protocol))
        said["instructions"] = "" if instructions == usual else instructions
        practice = tuple(self._practice(protocol))
        said["practice"] = None if practice == protocol.practice else practice
        said["check"] = tuple(
            _question(_plain(question), _lines(choices))
            for question, choices in zip(self.question, self.choices, strict=True)
            if question.strip()
        )
        return {name: value for name, value in said.items() if value != getattr(_USUAL, name)}

    def _practice(self, protocol: Protocol) -> Sequence[Practice]:
        parts = zip(*(getattr(self, name) for name in _PRACTICE), strict=True)
        return [
            Practice(
                tuple(_lines(captions)),
                _ranges(expected),
                _plain(feedback),
                item.strip(),
                _plain(context),
            )
            for captions, item, context, expected, feedback in parts
            if captions.strip()
        ]


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
    return _form(desk, campaign, Fields.of(read_pages(campaign.settings), campaign.protocol))


@router.post("/pages", dependencies=[FromOurForm])
def set_pages(desk: Owner, campaign: Chosen, fields: Annotated[Fields, Depends()]) -> Response:
    """Replace what raters are told by what the form says; texts by item stay."""
    try:
        wanted = msgspec.to_builtins(fields.pages(campaign.protocol))
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
        example="; ".join(Fields.of(Pages(), campaign.protocol).practice_expected[:1]),
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
