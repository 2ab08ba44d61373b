"""Measures the shape of the source code: how much there is, and how far one must walk in it.

    python tools/measure_code.py [--json FILE] [--before FILE]

It counts what a wheel carries; the files that run on the way from a caption to a table and to a
page, from a judgment to results, and from a submission to the leaderboard, with the times that
each step opens the database; modules with one importer; names used more than once; `Any`; public
names and those that the documentation lists; extras for users; and the size of the changelog.
`--before` prints an earlier result beside. tests/unit/test_package.py keeps the limits.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import re
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import reelscore

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.testclient import TestClient

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(reelscore.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
MANY_FILES = 12  # in a folder
DEVELOPERS = {"bench", "dev", "docs", "peers", "test"}  # extras that are not for users
PASSWORD = "a long password"
DEFINITION = """
[challenge]
id = "dogs"
name = "Dogs"
[[split]]
id = "test"
visibility = "blind"
references = "references.json"
[scoring]
metrics = ["cider"]
[[phase]]
id = "main"
splits = ["test"]
opens = 2020-01-01T00:00:00Z
closes = 2100-01-01T00:00:00Z
feedback = { test = "full" }
[[board]]
id = "test"
phase = "main"
primary = "cider"
columns = [{ scores = ["cider"] }]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--before", type=Path, help="figures of an earlier run, shown beside")
    arguments = parser.parse_args()
    figures = measure()
    earlier = json.loads(arguments.before.read_text()) if arguments.before else {}
    for name, value in figures.items():
        before = f"{earlier[name]:>9,} →" if name in earlier else ""
        print(f"{name:<52}{before}{value:>9,}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


def measure() -> dict[str, int]:
    importers = importers_by_module()
    single = {name: user for name, (user, *more) in importers.items() if not more}
    private = [name for name, user in single.items() if not name.startswith(f"{user}.")]
    public, documented = public_names()
    return {
        "lines of Python in the wheel": sum(
            len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES
        ),
        "files of Python in the wheel": len(SOURCES),
        f"folders with more than {MANY_FILES} files": len(full_folders()),
        **{name: len(files_run_by(walk)) for name, walk in walks()},
        **{
            f"database openings: {name}": openings
            for walk in (judge_and_evaluate, submit_and_see_board)
            for name, openings in database_openings(walk).items()
        },
        "class names used more than once": len(repeated(class_names())),
        "file stems used more than once": len(repeated(file_stems())),
        "uses of Any": sum(name.id == "Any" for name in nodes(ast.Name)),
        "docstrings that begin with Give, Say or Tell": sum(map(is_told, docstrings())),
        "public names": public,
        "public names on an API page": documented,
        "extras for users": len(user_extras()),
        "bytes of CHANGELOG.md": (ROOT / "CHANGELOG.md").stat().st_size,
        "modules with one importer, command line aside": len(single),
        "modules with one importer, exported ones aside too": len(private),
        "modules named by a verb in -ing": sum(is_verb(path.stem) for path in SOURCES),
    }


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


# Walks: what runs, imports aside


Node = TypeVar("Node", bound=ast.AST)
Walk = Callable[[], AbstractContextManager[dict[str, Callable[[], object]]]]  # steps by name


def walks() -> list[tuple[str, Walk]]:
    return [
        ("files: caption to table", score_captions),
        ("files: caption to page", score_with_report),
        ("files: judgment to results", judge_and_evaluate),
        ("files: submission to board", submit_and_see_board),
    ]


def files_run_by(walk: Walk) -> set[Path]:
    """Return the files of the package whose functions run, other than while one is imported.

    Args:
        walk: Prepares what is needed, and yields the steps to watch.
    """
    files: set[str] = set()
    watching = threading.Event()
    importing = threading.local()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            depth = getattr(importing, "depth", 0)
            importing.depth = depth + {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and watching.is_set() and not getattr(importing, "depth", 0):
            files.add(code.co_filename)

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        with walk() as steps:
            watching.set()
            for step in steps.values():
                step()
            watching.clear()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {Path(name) for name in files if Path(name).is_relative_to(PACKAGE)}


def database_openings(walk: Walk) -> dict[str, int]:
    """Return how many database connections this process takes from their pool for each step."""
    from sqlalchemy import event
    from sqlalchemy.pool import Pool

    openings: Counter[str] = Counter()
    with walk() as steps:
        for name, step in steps.items():

            def count(*_: object, name: str = name) -> None:
                openings[name] += 1

            event.listen(Pool, "checkout", count)
            try:
                step()
            finally:
                event.remove(Pool, "checkout", count)
    return openings


@contextmanager
def score_captions(*output: str) -> Iterator[dict[str, Callable[[], object]]]:
    """`reelscore score` on the embedded example, as a table in the terminal."""
    from reelscore.cli.main import cli

    clips = PACKAGE / "examples" / "clips"
    systems = map(str, sorted((clips / "systems").iterdir()))
    command = ["score", *systems, "--refs", str(clips / "references.json"), *output]
    with redirect_stdout(StringIO()):
        yield {"score": lambda: cli.main(command, standalone_mode=False)}


@contextmanager
def score_with_report() -> Iterator[dict[str, Callable[[], object]]]:
    """The same with its HTML report."""
    with (
        tempfile.TemporaryDirectory() as folder,
        score_captions("--html", f"{folder}/report.html") as steps,
    ):
        yield steps


@contextmanager
def judge_and_evaluate() -> Iterator[dict[str, Callable[[], object]]]:
    """A rater sees a task and answers it; an organiser looks at the results.

    Before that, the campaign is opened, the rater has agreed and the organiser has logged in.
    """
    from starlette.testclient import TestClient

    url = "http://127.0.0.1:8000"
    with tempfile.TemporaryDirectory() as folder:
        app, token = running_campaign(folder, url)
        with TestClient(app, base_url=url) as rater, TestClient(app, base_url=url) as organiser:
            headers = {"x-form-proof": begin_work(app, rater, token)}
            log_in(app, organiser)

            def answer() -> None:
                answer = {"assignment": 1, "task": 1, "answer": {"adequacy": [71]}}
                sent = answer | {"started": 1.0, "submitted": 2.0}
                rater.post("/c/dogs/answers", json=sent, headers=headers).raise_for_status()

            yield {
                "task page": lambda: rater.get("/c/dogs/task/1").raise_for_status(),
                "answer": answer,
                "results page": lambda: organiser.get(
                    "/organise/c/dogs/results"
                ).raise_for_status(),
            }


def running_campaign(folder: str, url: str) -> tuple[FastAPI, str]:
    """Make a campaign of one task; return its app and the token of a rater's link."""
    from reelscore.campaigns import Campaign, Hit, Shown, Task
    from reelscore.campaigns.store import raters
    from reelscore.web import Settings, create_app
    from reelscore.web.store.accounts import add_account

    database = f"{folder}/dogs.db"
    settings = {"pages": {"practice": []}}
    with Campaign.create(database, "Dogs", systems=["mine"], settings=settings) as campaign:
        campaign.add_hits([Hit("h1", (Task("t1", "clip1", (Shown("mine", "a dog runs"),)),))])
        campaign.set_state("open", actor="me")
    app = create_app(Settings(database, url=url, secret="s" * 64))
    (token,) = raters.invite(app.state.site.database, "dogs", [""], 1)
    add_account(app.state.site.database, "me", PASSWORD, "owner")
    return app, token


def begin_work(app: FastAPI, rater: TestClient, token: str) -> str:
    """Let a rater open the link and agree; return the token of the forms of this browser."""
    rater.get(f"/r/{token}")
    proof: str = app.state.site.signer.proof(rater.cookies["reelscore_browser"])
    rater.post(f"/r/{token}", data={"proof": proof})
    rater.post("/c/dogs/instructions", data={"proof": proof}).raise_for_status()
    return proof


def log_in(app: FastAPI, browser: TestClient, page: str = "/organise/login") -> None:
    browser.get(page)
    proof = app.state.site.signer.proof(browser.cookies["reelscore_browser"])
    account = {"name": "me", "password": PASSWORD, "proof": proof}
    browser.post(page, data=account).raise_for_status()


@contextmanager
def submit_and_see_board() -> Iterator[dict[str, Callable[[], object]]]:
    """A team hands a file in, it is scored, and a visitor looks at the leaderboard.

    Before that, the challenge is made, and the team's captain has logged in.
    """
    from starlette.testclient import TestClient

    from reelscore.challenges.queue.workers import Workers

    url = "http://127.0.0.1:8000"
    with tempfile.TemporaryDirectory() as folder:
        app = running_challenge(folder, url)
        clients = [TestClient(app, base_url=url) for _ in range(2)]
        member, visitor = clients
        log_in(app, member, "/account/login")
        site = app.state.site
        proof = site.signer.proof(member.cookies["reelscore_browser"])
        captions = json.dumps({f"v{k}": f"a dog runs {k} times" for k in range(10)})

        def submit() -> None:
            form = {"proof": proof, "phase": "main"}
            sent = {"data": form, "files": {"file": ("run.json", captions)}}
            answer = member.post("/challenges/dogs/submit", follow_redirects=False, **sent)
            assert answer.status_code == 303

        yield {
            "submit": submit,
            "submissions page": lambda: member.get("/challenges/dogs/mine").raise_for_status(),
            "scoring": lambda: Workers(app.state.challenges.challenges, 1).run_until_idle(),
            "board page": lambda: visitor.get("/challenges/dogs/boards/test").raise_for_status(),
        }
        for client in clients:
            client.close()
        app.state.challenges.readers.close()
        site.database.close()


def running_challenge(folder: str, url: str) -> FastAPI:
    """Make a challenge with one team; return its app."""
    from reelscore.challenges.people.teams import add_team
    from reelscore.challenges.updates import make_challenge
    from reelscore.web import Settings, create_app
    from reelscore.web.store.accounts import add_account

    references = {f"v{k}": [f"a dog runs {k} times", "a dog runs"] for k in range(10)}
    Path(folder, "references.json").write_text(json.dumps(references))
    Path(folder, "dogs.toml").write_text(DEFINITION)
    app = create_app(Settings(f"{folder}/dogs.db", url=url, secret="s" * 64))
    site = app.state.site
    make_challenge(app.state.challenges.challenges, Path(folder, "dogs.toml"))
    account = add_account(site.database, "me", PASSWORD, "participant")
    add_team(app.state.challenges.challenges.find(), "Ours", account=account.id)
    return app


# Modules and names


def full_folders() -> list[Path]:
    counts = Counter(path.parent for path in SOURCES)
    return [folder for folder, count in counts.items() if count > MANY_FILES]


def nodes(kind: type[Node]) -> Iterator[Node]:
    """Yield all parts of the source code of a kind."""
    for tree in TREES.values():
        yield from (node for node in ast.walk(tree) if isinstance(node, kind))


def docstrings() -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield ast.get_docstring(node) or ""


def is_told(docstring: str) -> bool:
    return docstring.startswith(("Give ", "Say ", "Tell "))


def class_names() -> list[str]:
    return [node.name for node in nodes(ast.ClassDef)]


def file_stems() -> list[str]:
    """Return the stems of files, but for those that every package or wing has."""
    return [path.stem for path in SOURCES if path.stem not in ("__init__", "wing", "commands")]


def repeated(names: list[str]) -> dict[str, int]:
    return {name: count for name, count in Counter(names).items() if count > 1}


def user_extras() -> list[str]:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return [name for name in re.findall(r"^(\w+) = \[", extras, re.M) if name not in DEVELOPERS]


def importers_by_module() -> dict[str, set[str]]:
    """Return the importers of each module that has any; command lines aside, on both sides.

    A package imports what its stub names.
    """
    names = {module_name(path): path for path in SOURCES if not is_command(path)}
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, path in names.items():
        stub = path.with_suffix(".pyi")
        stated = [ast.parse(stub.read_text(encoding="utf-8"))] if stub.exists() else []
        for imported in imported_modules([TREES[path], *stated], names):
            if imported != importer:
                importers[imported].add(importer)
    return importers


def is_command(path: Path) -> bool:
    return part(path) == "cli" or "commands" in path.relative_to(PACKAGE).parts


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(trees: list[ast.Module], names: dict[str, Path]) -> Iterator[str]:
    for node in chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            wanted = [name if name in names else str(node.module) for name in inside]
        else:
            continue
        yield from (name for name in wanted if name in names)


def is_verb(stem: str) -> bool:
    return bool(re.search(r"(^|_)[a-z]{2,}ing$", stem)) and stem not in ("string", "ranking")


# Public names


def public_names() -> tuple[int, int]:
    """Count the names that packages offer to users, and those of them that have documentation."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    from generated_pages import all_pages, public_packages  # type: ignore[import-not-found]

    pages = dict(all_pages())
    public = documented = 0
    for package in ("reelscore", *public_packages()):
        page = pages["api.md" if package == "reelscore" else f"api/{package}.md"]
        names = importlib.import_module(package).__all__
        public += len(names)
        documented += sum(bool(re.search(rf"{package}\.{name}\b", page)) for name in names)
    return public, documented


if __name__ == "__main__":
    main()
