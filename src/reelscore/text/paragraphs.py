"""Captions of several sentences, divided into what they claim, one sentence at a time.

Models write paragraphs, lists and Markdown, greet their reader and ask what to do next. What is
left here are the sentences that say something of the video, as plain text.

A full stop ends a sentence before a blank, whatever the case of the next letter, since captions are
often written in lower case; not after an abbreviation, an initial or a number in a list. A line
break ends one before a list item, an empty line or a capital. Greetings are left out before the
first sentence and offers behind the last; in between nothing is. Questions about the video stay:
people mark down a caption that asks what it should tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

# Never the last word of a sentence; the last word only where a capital follows; and only where a
# word follows that begins sentences, as after an initial.
_TITLES = (
    "mr mrs ms dr prof st mt lt col gen sgt capt rev hon vs e.g i.e a.k.a cf approx nos fig al"
)
_MAY_END = (
    "etc jr sr inc ltd co a.m p.m b.c a.d ca min mins max sec secs hr hrs ft km cm mm kg lb lbs oz "
    "tbsp tsp"
)
_NAMES = "u.s u.k u.s.a d.c"
_ABBREVIATIONS = frozenset(_TITLES.split())
_ENDING_ABBREVIATIONS = frozenset(_MAY_END.split())
_INITIALS = frozenset(_NAMES.split())
_BEGINS = re.compile(
    r"(?:The|An?|He|She|It|They|We|You|His|Her|Its|Their|This|That|These|Those|There|Then|Next|"
    r"After|Before|While|When|As|In|On|At|From|Finally|Another|Someone|People|One|Two|No)\b"
)

_CLOSING = r"[\"'”’»)\]」』]*"
_END = re.compile(
    rf"[.!?…]+{_CLOSING}(?=\s|$)|[。！？]+{_CLOSING}|"
    r"(?<=[a-z]{2})[.!?…]+(?=[A-Z][a-z]*[ ,])"  # the blank behind it was forgotten
)
_BREAK = re.compile(r"[.!?…\"'”’»)\]]\s+\S|[a-z][.!?…]+[A-Z]|[。！？].|\n|<br|</p|</li", re.DOTALL)
_LAST_WORD = re.compile(r"(?:^|[\s(\"'“‘])([\w.]+?)\.$")
_ITEM = re.compile(r"(?:[-*+•‣◦–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])\s+(?!\w\.\s)(?=\S)")
_NUMBERED = re.compile(r"(?:^|.*:\s)\(?1[.)]\s.*[.!?;]\s+\(?2[.)]\s")
_NEXT_ITEM = re.compile(r"(?<=[.!?;:])\s+(?=\(?\d{1,2}[.)]\s+\S)")
_HEADING = re.compile(r"#{1,6}\s+")
_RULE = re.compile(r"[-*_=]{3,}\s*|`{3}.*|\|?[\s:|-]*\|[\s:|-]*")
_LINK = re.compile(r"!?\[([^\]]{0,200})\]\([^)\s]{0,400}\)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|~~|`{1,3})(?=\S)(.{1,400}?)(?<=\S)\1(?!\w)")
_LABEL = re.compile(r"(?:\*\*|__)([^*_]{1,60}?[^*_.!?]):?(?:\*\*|__):?\s*")
_THOUGHTS = re.compile(r".*<[/]think>", re.DOTALL)  # what a model thought before it wrote
_CHAT = re.compile(r"<\|[^|>]{0,40}\|>(?:assistant\b)?")
_TAG_BREAK = re.compile(r"<br\s*/?>|</(?:p|li|div|h\d)>|\\n(?=[A-Z\d*-])", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z]\w*(?:\s[^<>]{0,200})?/?>", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”")

# When something happens, and what a part is called, where a sentence begins with it.
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?|\d+(?:\.\d+)?\s?s(?:ec(?:ond)?s?)?"
_TIMES = rf"(?:from )?(?:{_CLOCK})(?:\s*(?:-|–|—|to)\s*(?:{_CLOCK}))?"
_MARK = re.compile(
    rf"(?:[\[(]{_TIMES}[\])]|{_TIMES}(?=\s*[:|–—-]\s))\s*(?:[:|–—-]\s+)?|"
    r"(?:(?:video |image |detailed )?(?:caption|description|summary|overview|setting|background|"
    r"foreground|details?|actions?|answer|output|response|beginning|middle|ending|end|conclusion|"
    r"introduction|assistant)|(?:step|scene|shot|frame|part|segment|event|clip|section)\s*\d{1,3})"
    r":\s+(?=\S)",
    re.IGNORECASE,
)
_CELL = re.compile(rf"(?:{_TIMES}|\d+)?")  # of a table, where it tells nothing

# How models lead into what they see; the rest of the sentence is the claim.
_LEAD = re.compile(
    r"(?:(?:(?:sure|certainly|of course|okay|ok|absolutely|great)[,!.]?\s+)?"
    r"here(?:[’']s| is| are)\b"
    r"[^:]{0,80}\b(?:caption|description|summary|breakdown)s?\b[^:]{0,80}:\s+|"
    r"(?:based on [^,.]{1,60}, )?"
    r"(?:(?:in|throughout|from|during|at the (?:beginning|start|end) of) (?:the|this) "
    r"(?:(?:first|next|last|final|opening|closing) )?(?:few )?"
    r"(?:video|clip|footage|scene|image|shot|frame|part|second|moment)s?(?: clip)?,? |"
    r"(?:here|now|then|next|first|finally|afterwards?|later(?: on)?),? )?"
    r"(?:(?:we|you|one) (?:can |could )?(?:also |then )?(?:see|observe)s?(?: that)?|"
    r"(?:it|this|the (?:video|clip|footage)) (?:can be seen|appears|seems) that|"
    r"there (?:can be seen|appears to be))\s+|"
    r"based on [^,.]{0,40}\b(?:frame|image|video|clip|footage)s?\b[^,.]{0,20}, )(?=\w)",
    re.IGNORECASE,
)
# Addressed to whoever asked, not said of the video: before all sentences, and behind them.
_GREETING = re.compile(
    r"(?:sure|yes|certainly|of course|absolutely|okay|ok|great|here(?:[’']s| is| are)\b[^:]{0,80}"
    r"\b(?:caption|description|summary|breakdown)s?\b[^:]{0,80}:?|based on [^,]*, here\b.*|"
    r"(?:as an ai|i(?:[’']m| am) (?:an ai|sorry)|i cannot|i can[’']t|i apologi[sz]e)\b.*)\W*",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:i hope|let me know|feel free|please (?:let|note|provide|feel)|as an ai|i cannot|"
    r"i can[’']t)\b.*|"
    r"if you\b.*\b(?:let me|feel free|ask|questions?|details?|information|changes?|help)\b.*|"
    r"(?:is|are) there any.*\b(?:you|i|else|specific|other)\b.*|"
    r"(?:would you like|do you (?:want|need|have)|what else|how (?:can|may) i)\b.*",
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


def told_text(text: str) -> str:
    """Return a caption without what is addressed to its reader; as it is where nothing is.

    >>> told_text("A dog barks at a cat. Would you like me to say more?")
    'A dog barks at a cat.'
    """
    if not _BREAK.search(text):
        return text
    everything = _everything(text)
    claims = _claims(everything)
    return text if len(claims) == len(everything) else " ".join(claims)


def _everything(text: str) -> list[str]:
    for labels in (True, False):  # where all lines look like labels, none is one
        found = [each for block in _blocks(_plain(text), labels) for each in _sentences(block)]
        if with_words := [each for each in found if re.search(r"\w", each)]:
            return with_words
    return []


def _plain(text: str) -> str:
    """Return a text without tags, what was thought before it, and quotes around all of it."""
    text = _CHAT.sub("", _THOUGHTS.sub("", text))
    text = _TAG.sub("", _TAG_BREAK.sub("\n", text)).strip()
    return text[1:-1] if _QUOTED.fullmatch(text) and _BREAK.search(text[1:-1]) else text


def _claims(sentences: list[str]) -> list[str]:
    begin, end = 0, len(sentences)
    while begin < end and _GREETING.fullmatch(sentences[begin]):
        begin += 1
    while begin < end and _OFFER.fullmatch(sentences[end - 1]):
        end -= 1
    own = [each for each in sentences[begin:end] if not each.endswith(":")]
    claims = [_without(_LEAD, _without(_MARK, each)) for each in own]
    return [each for each in claims if each] or sentences


def _without(beginning: re.Pattern[str], sentence: str) -> str:
    found = beginning.match(sentence)
    return sentence[found.end() :] if found else sentence


def _blocks(text: str, labels: bool) -> Iterator[str]:
    """Yield runs of text that no line break divides into sentences; headings are left out."""
    block: list[str] = []
    lines = [each for line in text.splitlines() for each in _items(line)]
    for line, below in pairwise([*lines, "", ""]):
        plain = line.strip().removeprefix(">").strip()
        heading = _HEADING.match(plain) or _RULE.fullmatch(plain)
        if plain.startswith("|"):  # a row of a table; what stands above its rule is its heading
            heading = heading or _RULE.fullmatch(below.strip())
            plain = " ".join(c.strip() for c in plain.split("|") if not _CELL.fullmatch(c.strip()))
        item = _ITEM.match(plain)
        content = plain[item.end() :] if item else plain
        label = _LABEL.fullmatch(content) if labels else None
        starts = item or not plain or not plain[0].islower() or line.lstrip().startswith("|")
        if block and (heading or label or starts):
            yield " ".join(block)
            block = []
        if heading or label or not plain:
            continue
        content = _LABEL.sub("", content, count=1) if _starts_with_label(content) else content
        content = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", content)).strip()
        if content:
            block.append(content)


def _items(line: str) -> list[str]:
    """Divide a line that holds a numbered list."""
    return _NEXT_ITEM.split(line) if _NUMBERED.match(line.lstrip()) else [line]


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
    if last == "no":
        return following[0].isdigit()
    if last in _INITIALS or (len(last) == 1 and last.isalpha() and last not in "ai"):
        return _BEGINS.match(following) is None
    if last in _ABBREVIATIONS:
        return True
    return last in _ENDING_ABBREVIATIONS and (lower or following[0].isdigit())
