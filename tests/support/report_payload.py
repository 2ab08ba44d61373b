"""What a report's page carries for its scripts, read back."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np


def decoded(text: str) -> tuple[dict, dict]:
    """Read a payload as data.js does: the header, and the columns by name."""
    raw = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4 : 4 + length])
    columns = {}
    for each in head.pop("columns"):
        start = 4 + length + each["at"]
        part = raw[start : start + each["bytes"]]
        if each["kind"] == "text":
            columns[each["name"]] = part.decode().split("\n")
        elif each["kind"] == "f4":
            planes = np.frombuffer(part, np.uint8).reshape(4, -1)
            columns[each["name"]] = np.ascontiguousarray(planes.T).view("<f4").ravel()
        else:
            columns[each["name"]] = np.frombuffer(part, f"<{each['kind']}")
    return head, columns


def page_data(page: Path) -> dict:
    """The header of a page's payload: names, sections, and what is not by item."""
    [text] = re.findall(r'id="data">([^<]*)<', page.read_text(encoding="utf-8"))
    return decoded(text)[0]
