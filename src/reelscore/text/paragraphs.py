"""Captions of several sentences, divided into what they claim, one sentence at a time.

Models write paragraphs, lists and Markdown, greet their reader and ask what to do next. What is
left here are the sentences that say something of the video, as plain text.

A full stop ends a sentence before a blank, whatever the case of the next letter, since captions are
often written in lower case; not after an abbreviation, an initial or a number in a list. A line
break ends one before a list item, an empty line or a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Never the last word of a sentence, and the last word only where a capital follows.
_TITLES = "mr mrs ms dr prof st mt lt col gen sgt capt rev hon vs e.g i.e cf approx no nos fig al"
_MAY_END = "etc jr sr inc ltd co a.m p.m u.s u.k u.s.a d.c b.c a.d ca min max sec ft lb oz tbsp tsp"
_ABBREVIATIONS = frozenset(_TITLES.split())
_ENDING_ABBREVIATIONS = frozenset(_MAY_END.split())

_END = re.compile(r"[.!?…。！？]+[\"'”’»)\]]*(?=\s|$)")
_BREAK = re.compile(r"[.!?…。！？\"'”’»)\]]\s+\S|\n")
_LAST_WORD = re.compile(r"([\w.]+?)\.$")
_ITEM = re.compile(r"(?:[-*+•‣◦–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])\s+(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+")
_RULE = re.compile(r"[-*_=]{3,}\s*|`{3}.*|\|?[\s:|-]*\|[\s:|-]*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_LABEL = re.compile(r"(?:\*\*|__)([^*_]{1,60}?):?(?:\*\*|__):?\s*")

# How models lead into what they see; the rest of the sentence is the claim.
_LEAD = re.compile(
    r"(?:(?:in|throughout|from|at the (?:beginning|start|end) of) (?:the|this) "
    r"(?:video|clip|footage|scene|image)(?: clip)?,? )?"
    r"(?:(?:we|you|one) (?:can |could )?(?:also |then )?(?:see|observe)s?(?: that)?|"
    r"(?:it|this|the (?:video|clip|footage)) (?:can be seen|appears|seems) that|"
    r"there (?:can be seen|appears to be))\s+(?=\w)",
    re.IGNORECASE,
)
# Addressed to whoever asked, not said of the video.
_ADDRESS = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok|great|here(?:'s| is| are)\b.*"
    r"\b(?:caption|description|summary|breakdown)s?\b.*|"
    r"(?:i hope|let me know|feel free|please (?:let|note|provide)|if you (?:have|need|would|want)|"
    r"(?:is|are) there any(?:thing)?|would you like|do you (?:want|need|have)|"
    r"(?:as an ai|i'm sorry|i am sorry|i cannot|i can't|i apologi[sz]e))\b.*)\W*",
    re.IGNORECASE,
)


def split_sentences(text: str) -> list[str]:
    r"""Return the sentences of a caption, without marks of lists, headings and Markdown.

    What is addressed to the reader, and headings, are left out, unless nothing else is there.
    """
    return _claims(_everything(text)) or [text]


def compared_sentences(text: str) -> list[str]:
    """Return what a metric compares: a caption of one sentence as it is, others in sentences.

    These have no full stop at their ends, as captions of one sentence mostly have none.
    """
    if not _BREAK.search(text):  # most captions are one sentence, and are soon recognised
        return [text]
    everything = _everything(text)
    if len(everything) < 2:
        return [text]
    return [sentence.rstrip(" .") or sentence for sentence in _claims(everything)]


def _everything(text: str) -> list[str]:
    return [sentence for block in _blocks(text) for sentence in _sentences(block)]


def _claims(sentences: list[str]) -> list[str]:
    claims = [_LEAD.sub("", each, count=1) for each in sentences if not _is_address(each)]
    return claims or sentences


def _is_address(sentence: str) -> bool:
    return sentence.endswith(":") or _ADDRESS.fullmatch(sentence) is not None


def _blocks(text: str) -> Iterator[str]:
    """Yield runs of text that no line break divides into sentences; headings are left out."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        plain = line.strip().removeprefix(">").strip()
        item = _ITEM.match(plain)
        heading = _HEADING.match(plain) or _RULE.fullmatch(plain)
        label = _LABEL.fullmatch(plain)
        if block and (not plain or item or heading or label or not plain[0].islower()):
            yield " ".join(block)
            block = []
        if heading or label or not plain:
            continue
        plain = plain[item.end() :] if item else plain
        plain = _LABEL.sub("", plain, count=1) if _starts_with_label(plain) else plain
        plain = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", plain)).strip()
        if plain:
            block.append(plain)


def _starts_with_label(line: str) -> bool:
    """Return whether a line begins with words in bold and a colon, such as a scene's name."""
    label = _LABEL.match(line)
    return label is not None and ":" in label[0] and label.end() < len(line)


def _sentences(block: str) -> Iterator[str]:
    begin = 0
    for end in _END.finditer(block):
        if _goes_on(block, begin, end):
            continue
        yield block[begin : end.end()].strip()
        begin = end.end()
    rest = block[begin:].strip()
    if rest:
        yield rest


def _goes_on(block: str, begin: int, end: re.Match[str]) -> bool:
    """Return whether a sentence goes on behind what looks like its end."""
    following = block[end.end() :].lstrip()
    marks = end[0]
    if not following:
        return False
    lower = following[0].islower()
    if marks[-1] in "\"'”’»)]" or marks.startswith(("..", "…")):
        return lower  # "Stop!" he says; and then... it falls
    if marks != ".":
        return False
    word = _LAST_WORD.search(block[begin : end.start() + 1])
    last = word[1].lower() if word else ""
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last not in "ai"):
        return last != "no" or following[0].isdigit()
    return last in _ENDING_ABBREVIATIONS and (lower or following[0].isdigit())
