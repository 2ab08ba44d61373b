"""How pages are made: templates that escape what they show, style sheets, and scripts.

Scripts are ES modules. Served pages load them as they are; a page in one file gets them joined into
a single module. Jinja2 is loaded when the first page is made.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore.report.safe_text import legible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Kind = Literal["f4", "u1", "u2", "u4"]  # of numbers

_ALIGNED = 4  # typed arrays begin at multiples of their size
_FOLDER = Path(__file__).parent
_IMPORT = re.compile(r'^import [^;]*? from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async |function |class |const |let )", re.MULTILINE)
_COMMENT = re.compile(r"^ *// .*\n", re.MULTILINE)


def template_environment(*packages: str) -> Environment:
    """Make what renders templates: those of some packages, and those that all pages share.

    >>> template_environment().from_string("{{ name }}").render(name="<b>")
    '&lt;b&gt;'
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(package) for package in (*packages, "reelscore.report")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"legible": legible, "number": _number}
    return environment


def _number(value: float, form: str = "g") -> str:
    return format(value, form)


@cache
def _environment() -> Environment:
    return template_environment()


def render(template: str, **context: object) -> str:
    """Render one of the templates of this package."""
    return _environment().get_template(template).render(context)


def as_it_is(text: str) -> Markup:
    """Mark a script, a style sheet or data as ours: templates do not escape it."""
    from markupsafe import Markup

    return Markup(text)


def style_sheet(name: str) -> Markup:
    """Read a style sheet, to stand in a page."""
    return as_it_is((_FOLDER / "templates" / name).read_text(encoding="utf-8").strip())


def joined_modules(entry: Path) -> str:
    """Join an ES module and those it imports into one module, each after those it needs.

    Modules import names of files beside them, ``import { a, b } from "./other.js";``, and share one
    scope when they are joined: no two of them may give a name at the top to different things. Lines
    of comments are left out, so that pages are smaller.
    """
    parts: dict[Path, str] = {}

    def add(module: Path) -> None:
        if module in parts:
            return
        text = module.read_text(encoding="utf-8")
        parts[module] = ""  # so that it is not read again while those it needs are
        for needed in _IMPORT.findall(text):
            add(module.parent / needed)
        del parts[module]  # it stands behind them
        parts[module] = _EXPORT.sub("", _IMPORT.sub("", _COMMENT.sub("", text))).lstrip("\n")

    add(entry)
    return "\n".join(parts.values())


def report_scripts() -> Path:
    """Return the folder of the scripts of reports."""
    return _FOLDER / "scripts"


def script_hash(script: str) -> str:
    """Return the source by which a Content-Security-Policy lets a script in a page run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


class Payload:
    """The data of a page: columns of numbers and texts, compressed, to be read by ``data.js``.

    It is a header in JSON and the columns behind it, as text that HTML can hold. Numbers lie as
    the browser's typed arrays have them, floats with their bytes sorted by significance, which
    halves what compression leaves.
    """

    def __init__(self) -> None:
        self._columns: list[dict[str, object]] = []
        self._parts: list[bytes] = []
        self._size = 0

    def numbers(self, name: str, values: ArrayLike, kind: Kind) -> None:
        """Add a column of numbers; integers must fit their kind."""
        array: NDArray[Any] = np.asarray(values).ravel()
        if kind != "f4" and len(array):
            assert 0 <= array.min() <= array.max() <= np.iinfo(kind).max, name
        plain = np.ascontiguousarray(array, dtype=f"<{kind}")
        if kind == "f4":
            plain = np.ascontiguousarray(plain.view(np.uint8).reshape(-1, 4).T)
        self._add(name, kind, plain.tobytes())

    def texts(self, name: str, texts: Sequence[str]) -> None:
        r"""Add a column of texts, which have no ``\n`` in them."""
        self._add(name, "text", "\n".join(texts).encode())

    def _add(self, name: str, kind: str, data: bytes) -> None:
        self._columns.append({"name": name, "kind": kind, "at": self._size, "bytes": len(data)})
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)

    def encoded(self, head: dict[str, object]) -> str:
        """Return everything as one text of base64."""
        # json, not msgspec: names may hold a lone surrogate, which only an escape can carry.
        header = json.dumps({**head, "columns": self._columns}, separators=(",", ":")).encode()
        header += b" " * (-len(header) % _ALIGNED)
        raw = b"".join([len(header).to_bytes(4, "little"), header, *self._parts])
        return base64.b64encode(zlib.compress(raw, 6)).decode()
