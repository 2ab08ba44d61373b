"""Writes docs/generated before each build: metrics from their docstrings, the CLI from --help.

Nothing in these pages is written by hand, so they cannot fall behind the code.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

import reelscore
from reelscore.cli.main import cli
from reelscore.metrics.base import Metric
from reelscore.metrics.registry import metric_class, metric_names

HELP_WIDTH = 80


def setup(app: Any) -> dict[str, bool]:
    """Hook into Sphinx."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "generated"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(folder: Path) -> None:
    """Write all pages; unchanged ones keep their date, so that Sphinx does not read them again."""
    pages = dict(all_pages())
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()


def all_pages() -> Iterator[tuple[str, str]]:
    """Yield the path under docs/generated and the text of each page."""
    for name in metric_names():
        yield f"metrics/{name}.md", metric_page(metric_class(name))
    yield "cli.md", cli_page()
    yield "api.md", api_page()
    for package in public_packages():
        yield f"api/{package}.md", package_page(package)


def metric_page(metric: type[Metric]) -> str:
    """Write a metric: its module's docstring, its parameters, scores and example."""
    about = inspect.cleandoc(sys.modules[metric.__module__].__doc__ or "")
    title, _, rest = about.partition("\n")
    full_title = title.rstrip(".")
    summary, attributes, example = _class_docstring(metric)
    for base in metric.__mro__[1:-1]:  # what several metrics share is explained there
        attributes = {**_class_docstring(base)[1], **attributes}
    return "\n".join(
        [
            f"# {metric.name}",
            "",
            f"**{full_title}.**",
            "",
            rest.strip(),
            "",
            "## Parameters",
            "",
            summary,
            "",
            *_parameter_table(metric, attributes),
            "",
            "## Scores and signature",
            "",
            f"- Scores: {', '.join(f'`{name}`' for name in metric().outputs)}.",
            f"- References: {'required' if metric.needs_references else 'not required'}.",
            "- Intervals, `reelscore compare` and `reelscore.Scorer`: "
            + (
                "yes."
                if metric.independent
                else "no, since a caption's score depends on the system's other captions."
            ),
            "- Signature, to which reelscore adds the tokenizer, items and references:",
            "",
            "  ```text",
            f"  {metric().signature()}",
            "  ```",
            "",
            "## Example",
            "",
            "```python",
            f">>> from {metric.__module__} import {metric.__name__}",
            example,
            "```",
            "",
        ]
    )


def _class_docstring(metric: type[Metric]) -> tuple[str, dict[str, str], str]:
    """Cut a class docstring into summary, what its attributes mean, and its example."""
    text = inspect.cleandoc(metric.__doc__ or "")
    before, arrows, example = text.partition(">>> ")
    summary, _, section = before.partition("Attributes:")
    attributes: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if found := re.match(r" {4}(\w+): (.*)", line):
            name = found[1]
            attributes[name] = found[2]
        elif line.strip() and name:
            attributes[name] += " " + line.strip()
    return summary.strip(), attributes, (arrows + example).strip()


def _parameter_table(metric: type[Metric], attributes: dict[str, str]) -> Iterator[str]:
    if not dataclasses.fields(metric):
        yield "It has none."
        return
    kinds = get_type_hints(metric)
    yield "| name | values | default | meaning |"
    yield "|---|---|---|---|"
    for field in dataclasses.fields(metric):
        default = "none" if field.default is None else field.default
        values = _values(kinds[field.name])
        yield f"| `{field.name}` | {values} | `{default}` | {attributes.get(field.name, '')} |"


def _values(kind: Any) -> str:
    """Return the values of a type, as in "`d` or `plain`", "`float` or `none`"."""
    if kind is NoneType:
        return "`none`"
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_values, get_args(kind)))
    return f"`{kind.__name__}`"


def cli_page() -> str:
    """Write the help of the program and of every command."""
    lines = [
        "# Command line",
        "",
        "This page is what `reelscore --help` and `reelscore COMMAND --help` print.",
        "",
        "Data goes to standard output, messages and progress bars to standard error. The exit "
        "status is 0 for success, 1 if a check found faults, 2 for an error that the message "
        "explains, 3 for a result that must not be trusted, and 130 after an interruption; "
        "`challenge submit` has more. A traceback is a bug in reelscore: please report it.",
        "",
    ]
    for names, command in commands():
        lines += [f"## {' '.join(names)}", "", "```text", _help(names, command), "```", ""]
    return "\n".join(lines)


def commands(
    names: tuple[str, ...] = ("reelscore",), command: click.Command = cli
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the program, its commands, and the commands of groups below it."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from commands((*names, name), below)


def _help(names: tuple[str, ...], command: click.Command) -> str:
    context = click.Context(
        command,
        info_name=" ".join(names),
        terminal_width=HELP_WIDTH,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context)


@cache
def public_packages() -> list[str]:
    """Return the packages and modules below `reelscore` that have public names.

    A package states them in its stub, ``__init__.pyi``; a module in its `__all__`.
    """
    root = Path(reelscore.__file__).parent
    files = [path for path in root.rglob("*.py") if "\n__all__ = " in path.read_text("utf-8")]
    files += root.rglob("__init__.pyi")
    parts = [path.relative_to(root.parent).with_suffix("").parts for path in files]
    names = {".".join(part for part in names if part != "__init__") for names in parts}
    return sorted(names - {"reelscore"})


def api_page() -> str:
    """Write what `import reelscore` offers, and name the pages of the packages."""
    packages = public_packages()
    lines = [
        "# Python",
        "",
        "This is what `import reelscore` offers. The import is quick, since parts are loaded when "
        "they are first used. The classes of metrics are on the [metric pages](../metrics.md), "
        "those of pycocoevalcap on [their own page](../coco.md).",
        "",
        "`reelscore.__version__` is the version as a string.",
        "",
        "## Packages",
        "",
        "Each package has a page of its public names. Anything else may change without notice.",
        "",
        "| package | what it is for |",
        "|---|---|",
        *(f"| [`{name}`](api/{name}.md) | {_purpose(name).rstrip('.')} |" for name in packages),
        "",
        "```{toctree}\n:hidden:\n",
        *(f"api/{name}" for name in packages),
        "```\n",
        *_public_names("reelscore"),
    ]
    return "\n".join(lines)


def package_page(package: str) -> str:
    """Write the public names of a package."""
    return "\n".join([f"# {package}", "", _purpose(package), "", *_public_names(package)])


def _purpose(package: str) -> str:
    """Return the first paragraph of a package's docstring, as one line."""
    text = inspect.cleandoc(importlib.import_module(package).__doc__ or "")
    return " ".join(text.partition("\n\n")[0].split())


@cache
def _homes() -> dict[int, str]:
    """Return the first package in which each public object is, by the object's identity."""
    homes: dict[int, str] = {}
    for package in ("reelscore", *public_packages()):
        module = importlib.import_module(package)
        for name in module.__all__:
            homes.setdefault(id(getattr(module, name)), package)
    return homes


@cache
def examples() -> dict[str, str]:
    """Return where the example of each public class or function is, if there is one.

    It is in the docstring of the name itself or of its methods; otherwise in that of another name
    of the package, which calls it, returns it, or has it as a field: a record is best shown by the
    function that makes it.
    """
    public: dict[str, Any] = {}
    for package in ("reelscore", *public_packages()):
        module = importlib.import_module(package)
        values = {name: getattr(module, name) for name in module.__all__}
        public |= {
            f"{package}.{name}": value
            for name, value in values.items()
            if callable(value) and _homes()[id(value)] == package
        }
    places = {name: name for name, value in public.items() if _example(value)}
    new = list(places)
    while new:
        makers, new = new, []
        for maker in makers:
            shown = " ".join([_example(public[maker]), *_made_by(public[maker])])
            for name in public.keys() - places.keys():
                own = name.rpartition(".")[2]
                near = maker.count(".") == 1 or maker.split(".")[1] == name.split(".")[1]
                if near and re.search(rf"\b{own}\b", shown):
                    places[name] = places[maker]
                    new.append(name)
    return places


def _members(value: Any) -> list[Any]:
    """Return a function itself, or a class with its methods and properties as functions."""
    if not isinstance(value, type):
        return [value]
    functions = [getattr(member, "__func__", member) for member in vars(value).values()]
    functions = [getattr(f, "fget", getattr(f, "func", f)) for f in functions]
    return [value, *filter(inspect.isfunction, functions)]


def _example(value: Any) -> str:
    """Return the lines of code in the docstrings of a function or of a class and its methods."""
    lines = "\n".join(member.__doc__ or "" for member in _members(value)).split("\n")
    return "\n".join(line for line in lines if line.lstrip().startswith((">>> ", "... ")))


def _made_by(value: Any) -> Iterator[str]:
    """Yield the types that a function or the methods of a class return, and those of fields."""
    for member in _members(value):
        types = getattr(member, "__annotations__", {})
        yield from map(str, types.values() if member is value and isinstance(value, type) else ())
        yield str(types.get("return", ""))


def _fields(record: type) -> Iterable[str]:
    """Return the names of the fields of a class, which its docstring explains."""
    if dataclasses.is_dataclass(record):
        return [field.name for field in dataclasses.fields(record)]
    return getattr(record, "__struct_fields__", getattr(record, "_fields", ()))


def _public_names(package: str) -> Iterator[str]:
    """Write every public name with its docstring: functions, classes, errors, mappings.

    A name that is public in several packages is explained on the first page that has it.
    """
    module = importlib.import_module(package)
    values = {name: getattr(module, name) for name in module.__all__ if name != "__version__"}
    elsewhere = {name: _homes()[id(value)] for name, value in values.items()}
    for name, home in elsewhere.items():
        if home != package:
            page = "../api.md" if home == "reelscore" else f"{home}.md"
            del values[name]
            yield f"`{package}.{name}`\n: explained in [{home}]({page}).\n"
    errors = [n for n, v in values.items() if isinstance(v, type) and issubclass(v, BaseException)]
    classes = [n for n, v in values.items() if isinstance(v, type) and n not in errors]
    functions = [n for n, v in values.items() if inspect.isroutine(v)]
    mappings = [n for n, v in values.items() if isinstance(v, Mapping)]
    for title, directive, names, options in (
        ("Functions", "autofunction", functions, ""),
        ("Classes", "autoclass", classes, "   :members:\n"),
        ("Errors", "autoexception", errors, "   :show-inheritance:\n"),
        ("Mappings", "py:data", mappings, ""),
    ):
        if names:
            yield from (f"## {title}", "")
        for name in names:
            fields = ", ".join(_fields(values[name])) if name in classes else ""
            fields = f"   :exclude-members: {fields}\n" if fields else ""
            yield f"```{{eval-rst}}\n.. {directive}:: {package}.{name}\n{options}{fields}```\n"
            place = examples().get(f"{package}.{name}")
            if place not in (None, f"{package}.{name}"):
                yield f"An example is at {{py:obj}}`{place}`.\n"
            if name in mappings:
                yield "Keys: " + ", ".join(f"`{key}`" for key in values[name]) + ".\n"
