"""The packages in layers: who may import whom. Writes the tables in the documentation.

    python tools/layers.py          rewrites the marked parts of the pages below

What a package is for is said by its own docstring; a test checks imports by the same layers, and
that the pages are as this program writes them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "reelscore"

# A package may import those of the layers above it, and of its own layer, but not in a circle.
LAYERS = [
    ["errors", "_version", "_native", "_lazy", "_progress", "_digests", "_packages"],
    ["data", "text", "stats", "endpoint", "video", "examples", "engines"],
    ["metrics", "scoring"],
    ["significance", "stories", "store", "human", "corpus"],
    ["meta", "learned", "judges", "report", "compat", "frameworks", "captioners", "ray"],
    ["challenge"],
    ["web"],
    ["cli"],
]
PAGES = ["docs/architecture.md", "CONTRIBUTING.md"]
_PART = re.compile(r"(<!-- layers: [^>]*-->\n)(.*?)(<!-- end of layers -->)", re.DOTALL)


def purpose(folder: Path) -> str:
    """Give the first paragraph of a package's docstring, as one line."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    return " ".join((text or "").partition("\n\n")[0].split()).rstrip(".")


def table() -> str:
    """Write the layers, lowest first, with the packages inside each package."""
    lines = ["| layer | package | what it is for |", "|---|---|---|"]
    for number, names in enumerate(LAYERS[1:], start=1):
        for name in names:
            lines.append(f"| {number} | `{name}` | {purpose(PACKAGE / name)} |")
            lines += [
                f"| | `{name}/{below.name}` | {purpose(below)} |"
                for below in sorted((PACKAGE / name).iterdir())
                if (below / "__init__.py").exists()
            ]
    return "\n".join(lines)


def updated(page: str) -> str:
    """Give a page with its table as it should be."""
    return _PART.sub(lambda part: f"{part[1]}{table()}\n{part[3]}", page)


def main() -> None:
    for name in PAGES:
        path = ROOT / name
        path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
