"""JSON, twice: msgspec for the good files, the standard library to say what is wrong with others.

msgspec is fast and lean, but it stops at the first fault, does not always say where, and keeps
the last of two equal keys. The standard library's decoder is the judge in every doubtful case.

The formats in JSON are told apart by the first kilobytes of a file, which may end anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from reelscore.data.checks import in_words
from reelscore.data.reading import ROLE_FIELDS, USUAL, FieldNames, Record, Request, Role, same_name
from reelscore.data.source import HEAD_SIZE, Source, check_document, decode_line
from reelscore.errors import DataError

Json = Any  # a decoded value: who reads it looks what it is
_ENOUGH = 1 << 13
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_WORDS = ("true", "false", "null", "NaN", "Infinity")
_COCO_SECTIONS = ("info", "images", "licenses", "annotations", "type")
_ANY_ROLE = ("annotations", "results", "data")


def json_kind(head: bytes, fields: FieldNames = USUAL) -> str:
    """Name the JSON format that a file begins like: a format, "other" or "".

    "other" is JSON that holds no captions, such as a list of numbers; "" is no JSON at all, even
    if it begins with a bracket.
    """
    if not head.lstrip().startswith((b"[", b"{")):
        return ""
    match _tokens(head):
        case ["[", "{", key, *_] if key.startswith("'"):
            return ""  # as Python prints records
        case ["[", "{" | "]", *_]:
            values = glimpse(head)[0]
            is_vatex = bool(values) and not {"enCap", "chCap"}.isdisjoint(values[0] or ())
            return "vatex" if is_vatex else "coco"
        case ["[", "[", *_]:
            return "lists"
        case ["[", first, "," | "]", *_] if first.startswith('"'):
            return "lists"
        case ["[", first, ",", *_] if first.isdecimal():
            return "other"
        case ["{", "}", *_]:
            return "json"
        case ["{", key, ":", *_] if key.startswith('"'):
            values = glimpse(head)
            if len(values) > 1 and isinstance(values[1], dict):
                return "jsonl"
            return _object_kind(values[0], fields)
    return ""


def _object_kind(first: dict[str, object], fields: FieldNames) -> str:
    """Name the format of a file that is one object."""
    match first:
        case {"database": dict()}:
            return "youcook2"
        case {"chapters": dict()}:
            return "chapters"
        case {"images": [{"sentences": list()}, *_]}:
            return "karpathy"
        case {"videos": list()} | {"sentences": [dict(), *_]}:
            return "msrvtt"
    if plain_record(first) is not first:
        return "jsonl"
    if any(_are_records(first.get(name)) for name in _COCO_SECTIONS):
        return "coco"
    if fields.are_of_record(first):
        item = fields.item_field(first) or USUAL.item_field(first) or ""
        return "lists" if isinstance(first.get(item), list | dict) else "jsonl"
    for value in map(first.get, sections_in(first)):
        match value:
            case [dict(), *_]:
                return "coco"
            case [str() | list(), *_]:
                return "lists"
            case dict() if not has_times(value):
                return "json"
    match next(iter(first.values()), None):
        case {"chapters": dict()}:
            return "chapters"
    return "activitynet" if has_times(first) else "json"


def sections_in(names: Collection[str]) -> list[str]:
    """Find the keys under which an object keeps captions of several items.

    >>> sections_in(["version", "results", "gts"])
    ['results', 'gts']
    """
    wanted = {same_name(name) for name in (*_ANY_ROLE, *ROLE_FIELDS["candidates"])}
    wanted |= {same_name(name) for name in ROLE_FIELDS["references"]}
    return [name for name in names if same_name(name) in wanted]


def section_for(role: Role, names: Collection[str]) -> str | None:
    """Choose the section that holds the captions of a role, or records with captions of both.

    >>> section_for("references", ["res", "gts"]), section_for("references", ["predictions"])
    ('gts', 'predictions')
    """
    other: Role = "references" if role == "candidates" else "candidates"
    keys = {same_name(name): name for name in names}
    order = (*ROLE_FIELDS[role], *_ANY_ROLE, *ROLE_FIELDS[other])
    return next((keys[same_name(name)] for name in order if same_name(name) in keys), None)


def is_of_other_role(name: str, beginning: bytes, role: Role, fields: FieldNames) -> bool:
    """Return whether a section holds captions of the other role, and none of this one.

    >>> is_of_other_role("predictions", b'[{"id": 1, "caption": "a"}]', "references", USUAL)
    True
    """
    other: Role = "references" if role == "candidates" else "candidates"
    if same_name(name) not in map(same_name, ROLE_FIELDS[other]):
        return False
    values = glimpse(beginning)
    return not (values and fields.role_fields(record_fields(values[0]), role))


def has_times(value: dict[str, object]) -> bool:
    """Return whether an object of videos holds timed captions.

    >>> has_times({"v1": {"timestamps": [[0, 4]], "sentences": ["a man"]}})
    True
    """
    if isinstance(results := value.get("results"), dict):
        value = results
    match next(iter(value.values()), None):
        case {"timestamps": _}:
            return True
        case [{"timestamp": _} | {"segment": _} | {"start": _, "end": _}, *_]:
            return True
    return False


def record_fields(value: object) -> list[str]:
    """Name the fields of the first record in a list of records, or in an object of records.

    >>> record_fields([{"id": "v1", "prediction": "a man"}])
    ['id', 'prediction']
    """
    while isinstance(value, list | dict) and value:
        first = value[0] if isinstance(value, list) else next(iter(value.values()))
        if isinstance(value, dict) and not isinstance(first, list | dict):
            return list(value)
        if isinstance(first, dict):
            return list(plain_record(first))
        value = first
    return []


def plain_record(record: dict[str, Any]) -> dict[str, Any]:
    """Take a record of a harness apart; all others stay as they are.

    >>> plain_record({"doc": {"video_id": "v1"}, "target": "a man", "resps": [["a dog"]]})
    {'video_id': 'v1', 'prediction': 'a dog', 'reference': 'a man'}
    >>> said = [{"role": "assistant", "content": [{"reference": "a man", "text": "a dog"}]}]
    >>> plain_record({"dataset": "DREAM/videvo", "idx": 7, "messages": said})
    {'item': 'DREAM/videvo_7', 'prediction': 'a dog', 'reference': 'a man'}
    """
    match record:
        case {"doc": dict() as about, "resps": [[response, *_], *_]}:  # lmms-eval's samples
            name = USUAL.item_field(about)
            item = {} if name is None else {name: about[name]}
            target = {"reference": record["target"]} if record.get("target") else {}
            segment = {"timestamp": about["segment"]} if "segment" in about else {}
            return {**item, **segment, "prediction": response, **target}
        case {"index": index, "prediction": caption, "answer": str() as answer}:  # VLMEvalKit's
            return {"item": index, "prediction": caption, "references": _written_list(answer)}
        case {"dataset": dataset, "messages": list() as messages}:  # DREAM-1K, as Tarsier 2 has it
            parts = [
                part
                for message in messages
                if isinstance(message, dict) and message.get("role") == "assistant"
                for part in message.get("content", ())
                if isinstance(part, dict) and part.get("reference")
            ]
            said: object = "".join(str(part.get("text") or "") for part in parts)
            asked: object = "".join(str(part["reference"]) for part in parts)
        case {"dataset": dataset, "text": {"response": response, **rest}}:  # as Tarsier has it
            said, asked = rest.get("prediction", ""), response
        case _:
            return record
    return {"item": f"{dataset}_{record.get('idx')}", "prediction": said, "reference": asked}


def _written_list(text: str) -> object:
    """Return a list that Python wrote into a text; any other text as it is."""
    if not text.startswith("["):
        return text
    from ast import literal_eval

    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _are_records(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and (not value or isinstance(value[0], dict))
    )


def glimpse(head: bytes) -> list[Json]:
    """Read the values at the beginning of a file of JSON, as far as they go.

    Numbers, true, false and null are left as ``None``. What is malformed is not noticed here.

    >>> glimpse(b'{"id": 7, "captions": ["a man", "a per')
    [{'id': None, 'captions': ['a man']}]
    """
    return _values(head[:_ENOUGH])


@lru_cache(maxsize=4)
def _tokens(head: bytes) -> list[str]:
    return _TOKEN.findall(head[:_ENOUGH].decode("utf-8", "replace"))


@lru_cache(maxsize=4)
def _values(head: bytes) -> list[Json]:
    values: list[Json] = []
    open_values: list[tuple[Json, list[str]]] = [(values, [])]  # each with the key that waits
    for token in _tokens(head):
        whole, key = open_values[-1]
        if token in ",:":
            continue
        if token in "}]":
            if len(open_values) > 1:
                open_values.pop()
            continue
        if token[0] not in '{["-0123456789' and token not in _WORDS:
            continue  # part of a text that is cut, or no JSON
        if isinstance(whole, dict) and not key:
            key.append(token.strip('"'))
            continue
        value: Json = {} if token == "{" else [] if token == "[" else None
        if token.startswith('"'):
            value = token[1:-1]
        if isinstance(whole, dict):
            whole[key.pop()] = value
        else:
            whole.append(value)
        if token in "{[":
            open_values.append((value, []))
    return values


# What msgspec raises on a document that the standard library shall judge.
DOUBTFUL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class RepeatedKeys(dict[str, object]):
    """A JSON object in which a key comes twice, with all its key-value pairs."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def decode_slowly(text: str, path: str, *, line: int | None = None) -> Json:
    """Decode a document, or a line of JSON Lines, with the standard library."""
    import json  # only here: most files never need it

    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{path}:{(line or 1) + error.lineno - 1}:{error.colno}"
        hint = " (if it is one object a line, pass format='jsonl')"
        if line is not None:
            hint = " (expected one object a line, with nothing behind it)"
        what = error.msg + (hint if error.msg == "Extra data" else "")
        raise DataError(f"{place}: malformed JSON: {what}.") from None
    except RecursionError:
        raise DataError(f"{path}:{line or 1}: malformed JSON: nested too deeply.") from None
    except ValueError:
        what = "a number has thousands of digits; write it as a text, in quotes"
        raise DataError(f"{path}:{line or 1}: malformed JSON: {what}.") from None


def decode_document(document: bytes, path: str) -> Json:
    """Decode a document; an object in which a key comes twice is a `RepeatedKeys`."""
    try:
        value = msgspec.json.decode(document)
    except DOUBTFUL:
        return decode_slowly(document.decode(), path)
    # What looks like a key may stand within a text; so there are at most that many keys.
    most = len(re.findall(rb'"[ \t\n\r]*:', document))
    return value if _keys_in(value) == most else decode_slowly(document.decode(), path)


def _keys_in(value: object) -> int:
    """Count the keys of all objects, as far down as most documents have some."""
    count, left = 0, [value]
    while left:
        value = left.pop()
        if type(value) is dict:
            count += len(value)
            left += value.values()
        elif (
            type(value) is list
            and (value and type(value[0]) is dict)  # lists of texts need no closer look
            and {*map(type, value)} == {dict}
        ):
            count += sum(map(len, value))
    return count


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    return whole if len(whole) == len(pairs) else RepeatedKeys(pairs)


def decode_json_line(line: bytes, path: str, number: int) -> Json:
    """Decode one line of a file.

    >>> decode_json_line(b'{"id": 7}', "run.jsonl", 1)
    {'id': 7}
    """
    try:
        return msgspec.json.decode(line)
    except DOUBTFUL:
        return decode_slowly(decode_line(line, path, number), path, line=number)


def whole_document(source: Source) -> bytes:
    """Read a document, and refuse one that is not UTF-8."""
    document = source.document()
    check_document(document, source.path)
    return document


def sections_of(document: bytes, path: str) -> dict[str, memoryview]:
    """Take a document that is one object apart; its values stay undecoded."""
    try:
        raw: dict[str, msgspec.Raw] = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    except DOUBTFUL:
        import json

        whole = decode_slowly(document.decode(), path)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: expected an object; it is {in_words(whole)}.") from None
        return {name: memoryview(json.dumps(value).encode()) for name, value in whole.items()}
    return {name: memoryview(value) for name, value in raw.items()}


def captions_section(document: bytes, path: str, request: Request) -> memoryview:
    """Find the section of a document that holds the captions of a role."""
    sections = sections_of(document, path)
    name = section_for(request.role, sections)
    if name is None:
        raise DataError(
            f"{path}: expected a list of records, alone or as 'annotations', 'predictions' or the "
            f"like; there are {', '.join(sections)}."
        )
    beginning = bytes(sections[name][:HEAD_SIZE])
    if is_of_other_role(name, beginning, request.role, request.reading.fields):
        other = "candidates" if request.role == "references" else "references"
        raise DataError(
            f"{path}: no {request.role[:-1]}, but {other} in {name!r}; is this the right file?"
        )
    return sections[name]


def objects_in(
    document: bytes | memoryview, path: str, place: Callable[[int], str]
) -> Iterator[tuple[int, object]]:
    """Yield the numbered values of a list, one after the other, to spare memory."""
    try:
        # Raw values are slices of the document: only one at a time becomes Python objects.
        raw_values = msgspec.json.decode(document, type=list[msgspec.Raw])
    except DOUBTFUL:
        values = decode_slowly(bytes(document).decode(), path)
        if not isinstance(values, list):
            raise DataError(f"{path}: expected a list of records; it is {in_words(values)}.") from (
                None
            )
        yield from enumerate(values, start=1)
        return
    decode = msgspec.json.Decoder().decode
    for number, raw in enumerate(raw_values, start=1):
        try:
            yield number, decode(raw)
        except DOUBTFUL:
            yield number, decode_slowly(bytes(raw).decode(), place(number))


def records_of(
    objects: Iterable[tuple[int, object]], place: Callable[[int], str], request: Request
) -> Iterator[Record]:
    """Pick item id and the captions of a role out of numbered JSON objects.

    The first object that has both decides under which names they are; all others must follow.
    """
    fields, role, problems = request.reading.fields, request.role, request.problems
    item = ""
    captions: list[str] = []
    wants_split = bool(request.reading.splits)
    for number, value in objects:
        if not isinstance(value, dict):
            problems.add(f"{place(number)}: the record is {in_words(value)}; expected an object.")
            continue
        value = plain_record(value)
        if not captions:
            missing = fields.fault(value, role)
            if missing and fields.item_field(value) and fields.has_captions(value):
                raise DataError(f"{place(number)}: {missing}.")  # all records will be so
            if missing:
                problems.add(f"{place(number)}: {missing}.")
                continue
            item = fields.item_field(value) or ""
            captions = fields.caption_fields(value, role)
        if wants_split and not request.takes(value.get(item), value.get("split")):
            continue
        try:
            if len(captions) > 1:
                held: object = joined(value[name] for name in captions)
            else:
                held = value[captions[0]]
                if type(held) is list and held and type(held[0]) is dict:
                    held = texts_of(held, fields, role)
            yield number, value[item], held
        except NoCaption as fault:
            problems.add(f"{place(number)}: {fault}.")
        except KeyError as error:
            problems.add(f"{place(number)}: no field {error.args[0]!r}, which other records have.")


class NoCaption(ValueError):
    """Why an object holds no caption, or not one."""


def texts_of(value: object, fields: FieldNames, role: Role) -> object:
    """Take captions out of the objects that hold them, or have them by the ids of sentences."""
    if isinstance(value, dict):
        if fault := fields.caption_fault(value, role):
            if value and all(re.search(r"\d", key) for key in value):
                return joined(value.values())
            raise NoCaption(fault)
        names = fields.caption_fields(value, role)
        held = [texts_of(value[name], fields, role) for name in names]
        return held[0] if len(held) == 1 else joined(held)
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return joined(texts_of(each, fields, role) for each in value)
    return value


def joined(values: Iterable[object]) -> list[object]:
    """Put captions, and lists of them, into one list.

    >>> joined(["a man", ["a person", "somebody"]])
    ['a man', 'a person', 'somebody']
    """
    texts: list[object] = []
    for value in values:
        texts += value if isinstance(value, list) else [value]
    return texts
