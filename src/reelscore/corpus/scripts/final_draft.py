"""Scripts of Final Draft (FDX): XML, read without entities and external references."""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element as Node
from xml.etree.ElementTree import TreeBuilder
from xml.parsers import expat

from reelscore.corpus.project_files import Kind, Script
from reelscore.corpus.scripts.elements import Collector
from reelscore.errors import DataError

_LINE = "line of the file"
_KINDS: dict[str, Kind] = {
    "Scene Heading": "heading",
    "Transition": "transition",
    "Lyrics": "lyric",
    "Singing": "lyric",
    "New Act": "title",
    "End of Act": "title",
    "Cast List": "note",
}


def is_final_draft(text: str) -> bool:
    """Return whether a script is XML, as Final Draft writes it."""
    return text.lstrip().startswith(("<?xml", "<FinalDraft"))


def parse_final_draft(text: str, name: str = "the script") -> Script:
    """Read a script of Final Draft."""
    root = _tree(text, name)
    if root.tag != "FinalDraft":
        raise DataError(f"{name}: XML, but <{root.tag}> instead of <FinalDraft>.")
    collector = Collector()
    for page in root.findall("TitlePage/Content/Paragraph"):
        collector.add("title", _text(page), _line(page))
    for paragraph in root.findall("Content/Paragraph"):
        dual = paragraph.find("DualDialogue")
        for inner in [paragraph] if dual is None else dual.findall("Paragraph"):
            _paragraph(inner, collector)
    return collector.script("fdx")


def _tree(text: str, name: str) -> Node:
    builder = TreeBuilder()
    parser = expat.ParserCreate(encoding="utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag, {**attributes, _LINE: str(parser.CurrentLineNumber)})

    def refuse(*declaration: object) -> NoReturn:
        raise DataError(
            f"{name}: the XML declares a document type or entities, which are not read; "
            "export it from Final Draft again."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise DataError(f"{name}: malformed XML ({error}).") from None
    return builder.close()


def _text(paragraph: Node) -> str:
    return "".join(run.text or "" for run in paragraph.findall("Text"))


def _line(paragraph: Node) -> int:
    return int(paragraph.attrib[_LINE])


def _paragraph(paragraph: Node, collector: Collector) -> None:
    kind, text, line = paragraph.get("Type", "Action"), _text(paragraph), _line(paragraph)
    if kind == "Character":
        collector.speak(text)
    elif kind == "Parenthetical":
        collector.direct(text, line)
    elif kind == "Dialogue":
        collector.say(text, line)
    elif kind in _KINDS:
        collector.add(_KINDS[kind], text, line)
    else:
        collector.describe(text, line)
    for note in paragraph.findall("ScriptNote/Paragraph"):
        collector.note(_text(note), _line(note))
