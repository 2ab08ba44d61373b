"""What a captioner is asked: prompts by name, in text files, or the user's own.

Fields in braces are filled for each clip: ``{duration}``, its length in seconds, and
``{previous}``, the caption of the clip before it in the same video.
"""

from __future__ import annotations

from dataclasses import dataclass

from reelscore.endpoint.prompts import PromptText, names_of_prompts, prompt_text
from reelscore.errors import DataError

_PACKAGE = "reelscore.captioners.adapters"
_FIELDS = {"duration", "previous"}
_NOTHING_BEFORE = "(none)"  # the previous caption of a video's first clip


@dataclass(frozen=True)
class CaptionPrompt(PromptText):
    """A question to a captioner.

    >>> prompt = CaptionPrompt("mine", "Describe these {duration} seconds.")
    >>> prompt.about(2.04), prompt.needs_order
    (('', 'Describe these 2.0 seconds.'), False)
    """

    def __post_init__(self) -> None:
        unknown = self.fields - _FIELDS
        if unknown:
            raise DataError(
                f"{self.name}: the prompt has an unknown field {{{min(unknown)}}}; expected "
                "{duration} and {previous} at most."
            )
        if not self.text.strip():
            raise DataError(f"{self.name}: the prompt is empty; expected a question.")

    @property
    def needs_order(self) -> bool:
        """Whether the clips of a video must be described one after the other."""
        return "previous" in self.fields

    def about(self, duration: float, previous: str = "") -> tuple[str, str]:
        """Return the text about the task, and the question, for a clip."""
        return self.filled({"duration": f"{duration:.1f}", "previous": previous or _NOTHING_BEFORE})


def caption_prompt_names() -> list[str]:
    """Name the prompts for captions that come with reelscore.

    >>> caption_prompt_names()
    ['audio-description', 'plain']
    """
    return names_of_prompts(_PACKAGE)


def read_caption_prompt(name: str) -> CaptionPrompt:
    """Read a prompt by name, or the user's file.

    >>> read_caption_prompt("plain").needs_order
    False
    """
    return CaptionPrompt(name, prompt_text(_PACKAGE, name))
