"""What a campaign tells its raters: texts, practice, and how a task is shown.

A campaign's settings hold it under ``pages``; everything has a default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import quote, urlsplit

import msgspec

from reelscore._records import resolved
from reelscore.campaigns.protocols import Practice, Protocol
from reelscore.errors import DataError

KEY = "pages"
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
ATTEMPTS = 2  # at the comprehension check, as Prolific asks
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")  # in a header, anything else would end the sources

INSTRUCTIONS = {
    "rating": "You will watch short videos, each with a text that describes it. Watch the video, "
    "read the text, then say with the slider how much you agree with the statement below it. Use "
    "the whole scale. Some texts are good and some are poor; judge each by itself.",
    "ranking": "You will watch short videos, each with several texts that describe it. Watch the "
    "video, read all texts, then put them in order for each question: 1 is the best.",
    "comparison": "You will watch short videos, each with two texts that describe it. Watch the "
    "video, read both texts, then say which is better. Judge each pair by itself.",
}
CONSENT = (
    "Taking part is voluntary, and you may stop at any time. Your answers, their times, how much "
    "of each video you played and the size of your window are stored under a number, without your "
    "name, and used for research on video captions."
)


class CheckQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of the comprehension check; `right` is the place of the right choice."""

    question: str
    choices: tuple[str, ...]
    right: int


class Pages(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What raters see besides the tasks, and how the tasks look."""

    title: str = "Rate video captions"  # the heading of all pages
    instructions: str = ""  # paragraphs, separated by empty lines
    consent: str = CONSENT  # what raters agree to
    # tasks with feedback before the first HIT; None for those of the protocol
    practice: tuple[Practice, ...] | None = None
    check: tuple[CheckQuestion, ...] = ()  # the comprehension check; empty for none
    must_watch: bool = True  # whether a video must be seen to its end before it is judged
    # whether a HIT whose times cannot be, such as one done faster than its videos play, gets no
    # code before an organiser has looked at it
    review: bool = True
    numbers: bool = False  # whether sliders show their number
    ties: bool = True  # whether captions may share a rank
    video_url: str = ""  # where videos lie that the server has no files of, with ``{item}`` in it
    contexts: dict[str, str] = {}  # texts to be shown instead of videos, by item
    # how many HITs a rater may do; 0 for any number
    hits_per_rater: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 0
    open: bool = False  # whether anybody with the campaign's own link may take part
    # the completion code of the study; Prolific's raters may enter if it is set
    prolific_code: str = ""
    screen_out_code: str = ""  # what Prolific is told of raters who fail the comprehension check,
    no_consent_code: str = ""  # of those who do not agree,
    no_work_code: str = ""  # of those for whom there is no HIT,
    timed_out_code: str = ""  # of those who stayed away until others had taken their HIT,
    partial_code: str = ""  # of those who give an unfinished HIT back,
    review_code: str = ""  # of those whose HIT waits for a review,
    rejected_code: str = ""  # of those whose HIT was rejected in that review,
    # of those who were not done when the campaign was paused or closed, or they were excluded
    stopped_code: str = ""
    mturk: bool = False  # whether Mechanical Turk's raters may enter
    contact: str = ""  # whom raters may ask
    price: Amount = 0.0  # what a rater is paid for a HIT; 0 where nobody is paid
    fee: Amount = 0.2  # the crowd service's share on top of that: 0.2 is 20 %
    currency: str = "USD"  # what both are counted in

    def practice_for(self, protocol: Protocol) -> tuple[Practice, ...]:
        """Return the practice tasks."""
        return protocol.practice if self.practice is None else self.practice

    def instructions_for(self, protocol: Protocol) -> list[str]:
        """Return the instructions by paragraph."""
        text = self.instructions or INSTRUCTIONS[protocol.form]
        return [part.strip() for part in text.split("\n\n") if part.strip()]

    def address_of(self, item: str) -> str:
        """Return where a video lies that is not served here; empty where there is no such place.

        >>> Pages(video_url="https://lab.example/{item}.mp4").address_of("clip 1")
        'https://lab.example/clip%201.mp4'
        """
        return self.video_url.replace("{item}", quote(item, safe=""))

    @property
    def origin(self) -> str:
        """The site that videos come from, if it is another; browsers load from no other.

        >>> Pages(video_url="https://lab.example/{item}.mp4").origin
        'https://lab.example'
        """
        parts = urlsplit(self.video_url)
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


_READY = resolved(Pages)


def read_pages(settings: Mapping[str, object]) -> Pages:
    """Take what a campaign's settings say of its pages."""
    try:
        pages = msgspec.convert(settings.get(KEY, {}), _READY)
    except msgspec.ValidationError as error:
        raise DataError(f"The settings of the pages: {error}.") from None
    parts = urlsplit(pages.video_url)
    if pages.video_url and (
        parts.scheme not in ("http", "https")
        or "{item}" not in pages.video_url
        or not _HOST.fullmatch(parts.netloc)
    ):
        raise DataError(
            f"Videos at {pages.video_url!r}; expected an address such as "
            "https://lab.example/videos/{item}.mp4."
        )
    for question in pages.check:
        if not 0 <= question.right < len(question.choices):
            raise DataError(
                f"The question {question.question!r} has {len(question.choices)} choices, and "
                f"number {question.right} is to be the right one; the first has number 0."
            )
    return pages
