"""Who may import whom: the layers of the ground floor, and the wings. Writes the page's table.

    python tools/layers.py          rewrites the marked part of docs/architecture.md

The ground floor scores captions; its packages are in layers. A wing is one feature. It imports
the ground floor, and other wings only as `WINGS` says; the ground floor imports no wing, and finds
them by the table in reelscore/wings.py. What a package is for is the first paragraph of its
docstring. tests/unit/test_package.py checks the imports, and that the page is up to date.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "reelscore"
STUDIES = ROOT / "studies" / "reelscore_studies"
PAGE = ROOT / "docs" / "architecture.md"

# A package imports those of the layers above it in this list, and of its own layer if that makes
# no circle. The modules beside the packages are for all of them.
LAYERS = [
    ["data", "text", "stats", "endpoint", "video", "examples", "engines"],
    ["metrics", "scoring"],
    ["significance", "stories", "store"],
    ["report", "compat", "frameworks", "ray"],
    ["web", "cli"],
]
ALONE = ["data", "text", "stats"]  # these import no other package

# The wings, each with the wings that it may import.
WINGS = {
    "campaigns": [],
    "challenges": ["campaigns"],  # people's verdict is a column of a leaderboard
    "corpus": [],
    "meta": [],
    "learned": ["meta"],  # a trained metric is measured as any other
    "captioners": ["learned"],  # encoders and checkpoints
}
_PART = re.compile(r"(<!-- layers: [^>]*-->\n)(.*?)(<!-- end of layers -->)", re.DOTALL)


def may_import(importer: str, imported: str) -> bool:
    """Return whether a package of reelscore may import another one."""
    if importer in WINGS:
        return imported not in WINGS or imported in WINGS[importer]
    layers = {name: number for number, names in enumerate(LAYERS) for name in names}
    return (
        imported in layers
        and layers[imported] <= layers[importer]
        and imported != "cli"
        and importer not in ALONE
    )


def imported_packages(path: Path) -> Iterator[str]:
    """Yield the packages of reelscore, or its studies, that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            first, _, rest = module.partition(".")
            if first in ("", "reelscore_studies"):  # relative imports are for nobody
                yield first or "."
            elif first == "reelscore" and (PACKAGE / rest.partition(".")[0]).is_dir() and rest:
                yield rest.partition(".")[0]


def purpose(folder: Path) -> str:
    """Return the first paragraph of a package's docstring as one line."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    return " ".join((text or "").partition("\n\n")[0].split()).rstrip(".")


def table() -> str:
    """Return the layers, lowest first, then the wings, with the packages inside each package."""
    lines = ["| layer | package | what it is for |", "|---|---|---|"]
    for number, names in enumerate(LAYERS, start=1):
        for name in names:
            lines += _rows(str(number), name)
    for name, others in WINGS.items():
        lines += _rows(", ".join(["wing", *(f"imports `{other}`" for other in others)]), name)
    lines.append(f"| studies | `reelscore_studies` | {purpose(STUDIES)} |")
    return "\n".join(lines)


def _rows(layer: str, name: str) -> Iterator[str]:
    yield f"| {layer} | `{name}` | {purpose(PACKAGE / name)} |"
    for below in sorted((PACKAGE / name).iterdir()):
        if (below / "__init__.py").exists() and below.name != "commands":
            yield f"| | `{name}/{below.name}` | {purpose(below)} |"


def updated(page: str) -> str:
    """Return a page with its table as it should be."""
    return _PART.sub(lambda part: f"{part[1]}{table()}\n{part[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
