"""The documentation is true: its examples run, and what the code offers is in it.

A page's examples run in order, in a folder that holds a copy of the embedded clips. Blocks of
```python with >>> are doctests. In blocks of ```console, every command after $ is run and its
output compared, but for those that install or build something. A block of ```toml whose first line
is a comment with a file's name, such as # lsmdc.toml, is that file.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import click
import pytest

import reelscore
from reelscore import examples
from reelscore.cli.main import main
from reelscore.metrics.registry import metric_class, metric_names

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted(DOCS.glob("*.md"))
NOT_RUN = ("make", "pip", "git", "cd", "cp", "sphinx-build")

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
# Shown outputs need not be renewed for a new version that moves no number.
NAMED_FILE = re.compile(r"# ([\w-]+\.toml)\n")
INLINE = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
# Settings of an option, such as --test 'randomization|trials:1000'.
SETTINGS = re.compile(r"(--[a-z-]+) (?:'([^']*)'|([^\s`']+))")
SETTING = re.compile(r"(?:^|\|)(\w+):(?!//)")
# Options of pip, of pytest, and of another evaluation, named without their programs.
OTHER_OPTIONS = {"--no-deps", "--full", "--log_samples"}
VERSION = re.compile(r"\bv:\d+\.\d+\.\d+[.\w]*")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Examples that need a package which the other tests do without.
FRAMEWORK = re.compile(r"reelscore\.frameworks\.(\w+)")
NETWORK = re.compile(r"Captioner\.train\(")


class Example(NamedTuple):
    """A command and the output the page shows."""

    command: str
    shown: str


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of the code blocks in a language."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[2] == language:
            yield text.count("\n", 0, match.start()) + 1, match[3]


def _commands(page: Path) -> Iterator[Example]:
    for _, block in _blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            command = [lines.pop(0)]
            while command[-1].endswith("\\") and lines:
                command.append(lines.pop(0).removeprefix("> "))
            yield Example("\n".join(command), "\n".join(lines))


def _run(command: str) -> str:
    """Return what a command prints; those of reelscore run in this process, which is quicker."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    if words[0] == "reelscore" and not {"|", ">", "<", "&&", ";"} & set(words):
        return _run_here([name for word in words[1:] for name in _files(word)])
    scripts = sysconfig.get_path("scripts")
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": os.pathsep.join([scripts, os.environ["PATH"]])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return done.stdout


def _files(word: str) -> list[str]:
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def _run_here(arguments: list[str]) -> str:
    out = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        contextlib.suppress(SystemExit),
    ):
        patch.setattr(sys, "argv", ["reelscore", *arguments])
        main()
    return out.getvalue()


@pytest.fixture
def clips_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder with references.json, systems/*.json, and the stories below it."""
    folder = tmp_path / "clips"
    shutil.copytree(examples.path("clips"), folder)
    shutil.copytree(examples.path("stories"), folder / "stories")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The module that writes docs/generated."""
    place = DOCS / "_ext" / "generated_pages.py"
    spec = importlib.util.spec_from_file_location("generated_pages", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated(generator: ModuleType) -> dict[str, str]:
    return dict(generator.all_pages())


def _written() -> str:
    """Everything written by hand."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


# Examples -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("clips_folder")
@pytest.mark.parametrize("page", [p for p in PAGES if any(_blocks(p, "python"))], ids=_id)
def test_python_examples(page: Path) -> None:
    names: dict[str, object] = {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=OPTIONS)
    report: list[str] = []
    for line, block in _blocks(page, "python"):
        needed = FRAMEWORK.findall(block) + ["torch"] * len(NETWORK.findall(block))
        if any(find_spec(package) is None for package in needed):
            continue
        block = VERSION.sub("v:" + reelscore.__version__, block)
        test = parser.get_doctest(block, names, f"{_id(page)}:{line}", str(page), line)
        runner.run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
    assert runner.failures == 0, "".join(report)


@pytest.mark.usefixtures("clips_folder")
@pytest.mark.parametrize("page", [p for p in PAGES if any(_commands(p))], ids=_id)
def test_shell_examples(page: Path) -> None:
    checker = doctest.OutputChecker()
    for _, block in _blocks(page, "toml"):
        if named := NAMED_FILE.match(block):
            Path(named[1]).write_text(block, encoding="utf-8")
    for command, shown in _commands(page):
        if command.startswith(NOT_RUN):
            continue
        got = VERSION.sub("v:VERSION", _run(command)).rstrip() + "\n"
        want = VERSION.sub("v:VERSION", shown).rstrip() + "\n"
        assert checker.check_output(want, got, doctest.ELLIPSIS), (
            f"{_id(page)}: $ {command}\n--- shown\n{want}--- got\n{got}"
        )


def test_examples_are_found() -> None:
    """So that a change of the markup does not silence the tests above."""
    pages = {_id(page): page for page in PAGES}
    assert len(list(_commands(pages["README.md"]))) >= 3
    assert sum(1 for page in PAGES for _ in _commands(page)) >= 15
    assert sum(1 for page in PAGES for _ in _blocks(page, "python")) >= 20


# Completeness -------------------------------------------------------------------------------------


def test_every_metric_is_documented(generated: dict[str, str]) -> None:
    overview = (DOCS / "metrics.md").read_text(encoding="utf-8")
    for name in metric_names():
        page = generated[f"metrics/{name}.md"]
        assert f"[`{name}`](generated/metrics/{name}.md)" in overview
        assert f"generated/metrics/{name}\n" in overview  # in the table of contents
        for output in metric_class(name)().outputs:
            assert output in overview, output
            assert f"`{output}`" in page
        rows = [line for line in page.splitlines() if line.startswith("| `")]
        assert rows or "It has none." in page, name
        for row in rows:
            assert re.search(r"\| [^|]+ \|$", row), f"{name}: a parameter is not explained: {row}"


def test_every_command_and_option_is_documented(
    generator: ModuleType, generated: dict[str, str]
) -> None:
    page, written = generated["cli.md"], _written()
    for names, command in generator.commands():
        assert f"## {' '.join(names)}\n" in page
        assert f"`{' '.join(names)}" in written, f"no hand-written page mentions {names}"
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in page, option


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (option for option in command.params if isinstance(option, click.Option))
    if default := getattr(command, "default", ""):
        yield from _options(command.get_command(click.Context(command), default))


def _called(text: str) -> Iterator[str]:
    """Yield the commands of reelscore that stand in lines of their own."""
    for line in re.sub(r"\\\n[>\s]*", "", text).splitlines():
        if found := re.match(r"\s*(?:\$ )?(reelscore (?:[^|#']|'[^']*'|#\S)*)", line):
            yield found[1]


def _misspelled(code: str, there: dict[tuple[str, ...], click.Command]) -> str:
    """Return what a command, or an option alone, names that is not there."""
    options = [option for command in there.values() for option in _options(command)]
    if found := re.match(r"reelscore(?: [a-z][a-z-]*)*(?![^\s,])", code):
        words = tuple(found[0].split())
        names = next(words[:n] for n in range(len(words), 0, -1) if words[:n] in there)
        is_group = isinstance(there[names], click.Group)
        if is_group and names != words and not getattr(there[names], "default", ""):
            return f"there is no command {' '.join(words)}"
        options = list(_options(there[names])) if len(names) > 1 else options
    spelled = {name for option in options for name in (*option.opts, *option.secondary_opts)}
    unknown = set(OPTION.findall(code)) - spelled - OTHER_OPTIONS - {"--help", "--version"}
    for name, *values in SETTINGS.findall(code):
        named = [option for option in options if name in option.opts]
        keys = {key for option in named for key in getattr(option, "keys", ())}
        given = SETTING.findall(re.sub(r"\(.*?\)", "", "".join(values)))
        unknown |= {f"{name} {key}:" for key in given if keys and key not in keys}
    return f"there is no {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md"], ids=_id)
def test_commands_and_options_in_text_are_there(page: Path, generator: ModuleType) -> None:
    text = page.read_text(encoding="utf-8")
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    spans = [span.replace("\\|", "|") for span in INLINE.findall(outside)]
    spans = [span for span in spans if re.match(r"reelscore |--?[a-z]", span)]
    blocks = "\n".join(match[3] for match in BLOCK.finditer(text))
    there = dict(generator.commands())
    found = {code: _misspelled(code, there) for code in (*spans, *_called(blocks))}
    assert not {code: fault for code, fault in found.items() if fault}


def test_examples_of_help_are_there(generator: ModuleType) -> None:
    there = dict(generator.commands())
    examples = [code for command in there.values() for code in _called(command.help or "")]
    assert len(examples) > 100
    found = {code: _misspelled(code, there) for code in examples}
    assert not {code: fault for code, fault in found.items() if fault}


def test_every_public_name_is_documented(generated: dict[str, str]) -> None:
    for name in reelscore.__all__:
        assert f"reelscore.{name}" in generated["api.md"], name


def test_every_environment_variable_is_documented() -> None:
    written = _written()
    for path in (ROOT / "src").rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        read = re.findall(r"environ(?:\.get\(|\.setdefault\(|\[)\s*[\"'](\w+)", code)
        for name in read:
            assert f"`{name}" in written, f"{path}: {name}"
        # a copy of them all, for another process, reads none
        assert len(re.findall(r"\benviron\b(?!\.items\(\))", code)) == len(read), (
            f"{path}: an environment variable is read in a way this test does not see"
        )


def test_every_make_target_is_documented() -> None:
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in targets:
        assert f"`make {target}`" in text, target


def test_every_change_in_the_tour_is_answered_by_a_folder() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    tour = text.partition("## Where would I change …\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| `([^`|]+)` \| ([^|]+) \|$", tour, re.MULTILINE)
    assert len(rows) >= 10
    sources = (path for top in ("src", "studies") for path in (ROOT / top).rglob("*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    for folder, start in rows:
        assert (ROOT / folder).is_dir(), folder
        places = [ROOT / folder, ROOT / "src/reelscore", ROOT / "studies/reelscore_studies", ROOT]
        for name in re.findall(r"`([\w/]+\.pyi?)`", start):
            near = places if "/" in name else places[:1]
            assert any((place / name).is_file() for place in near), f"{folder}/{name}"
        for name in re.findall(r"`(\w+(?:/\w+)+)`", start):
            assert any((place / name).is_dir() for place in places), name
        for option in re.findall(r"`(--[a-z-]+)`", start):
            assert f'"{option}"' in code, option
        for name in re.findall(r"`(\w+)`", start):
            assert (
                re.search(rf"^(def |class )?{name}\b", code, re.M)
                or (ROOT / folder / name).exists()
            ), name


# Links --------------------------------------------------------------------------------------------


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_links_between_pages(page: Path, generated: dict[str, str]) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target, _, anchor = link.partition("#")
        place = (page.parent / target).resolve() if target else page
        inside = place.relative_to(ROOT).as_posix().removeprefix("docs/generated/")
        if inside in generated:
            there = generated[inside]
        else:
            assert place.exists(), f"{_id(page)} links to {link}"
            there = place.read_text(encoding="utf-8") if place.is_file() else ""
        if anchor:
            assert anchor in _anchors(there), f"{_id(page)} links to {link}"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=_id)
def test_every_page_is_in_the_table_of_contents(page: Path) -> None:
    trees = "\n".join(
        block
        for path in DOCS.glob("*.md")
        for block in re.findall(r"```\{toctree\}(.*?)```", path.read_text(encoding="utf-8"), re.S)
    )
    assert page.stem == "index" or page.stem in trees.split()


@pytest.mark.skipif(sys.platform == "win32", reason="shell examples are for bash")
def test_every_answer_of_the_threat_model_has_its_test() -> None:
    files = {path.name: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    text = (ROOT / "SECURITY.md").read_text()
    named = re.findall(r"`(test_\w+\.py)(?:::(\w+))?`", text)
    assert len(named) > 30
    for file, test in named:
        assert file in files, file
        assert not test or f"def {test}(" in files[file], test
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 16  # a heading, and an answer each
    for row in rows[1:]:
        assert "`" in row[4], row


def test_paragraphs_are_short() -> None:
    for page in [*PAGES, ROOT / "SECURITY.md"]:
        text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |\||: )", text):
            assert len(paragraph.split()) <= 120, f"{_id(page)}: {paragraph[:60]} …"


def test_no_machine_paths() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"/(work|root|tmp|home/\w+)/", text), _id(page)
