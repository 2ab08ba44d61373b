"""Measures the shape of the source code: how far one must walk to understand it.

    python tools/measure_code.py [--json FILE] [--before FILE]

It counts the files that run while a caption is scored and reported, while a judgment is given and
evaluated, and from a submission to its leaderboard; modules with a single importer, with and
without those that their own package exports (which have users outside); modules named by a verb in
-ing; public names and those that the documentation lists; and lines of code. `--before` prints an
earlier result beside.
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
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from io import StringIO
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import reelscore

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.testclient import TestClient

PACKAGE = Path(reelscore.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
PASSWORD = "a long password"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--before", type=Path, help="figures of an earlier run, shown beside")
    arguments = parser.parse_args()
    figures = measure()
    earlier = json.loads(arguments.before.read_text()) if arguments.before else {}
    for name, value in figures.items():
        before = f"{earlier[name]:>8,} →" if name in earlier else ""
        print(f"{name:<52}{before}{value:>8,}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


def measure() -> dict[str, int]:
    caption = files_run_by(score_with_report)
    judgment = files_run_by(judge_and_evaluate)
    submission = files_run_by(submit_and_see_board)
    inside = [path for path in caption if part(path) not in ("cli", "report")]
    importers = importers_by_module()
    single = {name: user for name, (user, *more) in importers.items() if not more}
    private = [name for name, user in single.items() if not name.startswith(f"{user}.")]
    public, documented = public_names()
    return {
        "files a caption passes": len(caption),
        "files a caption passes, command line and report aside": len(inside),
        "files a judgment passes": len(judgment),
        "files a submission passes to its leaderboard": sum(p.suffix == ".py" for p in submission),
        "modules": len(SOURCES),
        "modules with one importer, command line aside": len(single),
        "modules with one importer, exported ones aside too": len(private),
        "modules named by a verb in -ing": sum(is_verb(path.stem) for path in SOURCES),
        "public names": public,
        "public names on an API page": documented,
        "lines of Python": sum(len(path.read_text().splitlines()) for path in SOURCES),
    }


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0]


# Walks: what runs, imports aside


Walk = Callable[[], AbstractContextManager[Callable[[], object]]]


def files_run_by(walk: Walk) -> set[Path]:
    """Name the files of the package whose functions run, other than while a module is imported.

    Args:
        walk: Prepares what is needed, and gives the function to watch.
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
        with walk() as work:
            watching.set()
            work()
            watching.clear()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {Path(name) for name in files if Path(name).is_relative_to(PACKAGE)}


@contextmanager
def score_with_report() -> Iterator[Callable[[], object]]:
    """`reelscore score` on the embedded example, with its HTML report."""
    from reelscore.cli.main import cli

    clips = PACKAGE / "examples" / "clips"
    systems = map(str, sorted((clips / "systems").iterdir()))
    references = str(clips / "references.json")
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        output = ["--html", f"{folder}/report.html"]
        command = ["score", *systems, "--refs", references, *output]
        yield lambda: cli.main(command, standalone_mode=False)


@contextmanager
def judge_and_evaluate() -> Iterator[Callable[[], object]]:
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

            def judge() -> None:
                rater.get("/c/dogs/task/1").raise_for_status()
                answer = {"assignment": 1, "task": 1, "answer": {"adequacy": [71]}}
                sent = answer | {"started": 1.0, "submitted": 2.0}
                rater.post("/c/dogs/answers", json=sent, headers=headers).raise_for_status()
                organiser.get("/organise/c/dogs/results").raise_for_status()

            yield judge


@contextmanager
def submit_and_see_board() -> Iterator[Callable[[], object]]:
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
            files = {"file": ("run.json", captions)}
            member.post("/challenges/dogs/submit", data=form, files=files).raise_for_status()
            Workers(site.challenges, 1).run_until_idle()
            visitor.get("/challenges/dogs/boards/test").raise_for_status()

        yield submit
        for client in clients:
            client.close()
        site.readers.close()
        site.database.close()


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


def running_challenge(folder: str, url: str) -> FastAPI:
    """Make a challenge with one team; give its app."""
    from reelscore.challenges.people.teams import add_team
    from reelscore.challenges.updates import make_challenge
    from reelscore.web import Settings, create_app
    from reelscore.web.store.accounts import add_account

    references = {f"v{k}": [f"a dog runs {k} times", "a dog runs"] for k in range(10)}
    Path(folder, "references.json").write_text(json.dumps(references))
    Path(folder, "dogs.toml").write_text(DEFINITION)
    app = create_app(Settings(f"{folder}/dogs.db", url=url, secret="s" * 64))
    site = app.state.site
    make_challenge(site.challenges, Path(folder, "dogs.toml"))
    account = add_account(site.database, "me", PASSWORD, "participant")
    add_team(site.challenges.find(), "Ours", account=account.id)
    return app


def running_campaign(folder: str, url: str) -> tuple[FastAPI, str]:
    """Make a campaign of one task; give its app and the token of a rater's link."""
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
    """Let a rater open the link and agree; give the token of the forms of this browser."""
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


# Modules


def importers_by_module() -> dict[str, set[str]]:
    """List the importers of each module that has any; command line aside, on both sides."""
    names = {module_name(path): path for path in SOURCES if part(path) != "cli"}
    importers: dict[str, set[str]] = defaultdict(set)
    for importer, path in names.items():
        for imported in imported_modules(path, names):
            if imported != importer:
                importers[imported].add(importer)
    return importers


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, names: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    """Count the names users can import from modules without an underscore, and those documented.

    A package with `__all__` has chosen its public names; its modules then are not public.
    """
    public: set[str] = set()
    documented: set[str] = set()
    for path in SOURCES:
        if "\n__all__ = " in path.read_text(encoding="utf-8"):
            package = module_name(path)
            names = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
            page = api_page(package)
            public |= names
            documented |= {name for name in names if re.search(rf"{re.escape(name)}\b", page)}
    chosen_packages = {name.rpartition(".")[0] for name in public} - {"reelscore"}
    for path in SOURCES:
        name = module_name(path)
        if any(piece.startswith("_") for piece in name.split(".")) or part(path) == "cli":
            continue
        above = set(accumulate(name.split("."), "{}.{}".format))
        if above & chosen_packages:
            continue
        public |= {f"{name}.{each}" for each in top_level_names(path)}
    return len(public), len(documented)


def top_level_names(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield node.name


def api_page(package: str) -> str:
    """Give the text of a package's generated API page; empty where there is none."""
    sys.path.insert(0, str(PACKAGE.parents[1] / "docs" / "_ext"))
    from generated_pages import all_pages  # type: ignore[import-not-found]

    wanted = "api.md" if package == "reelscore" else f"api/{package}.md"
    return dict(all_pages()).get(wanted, "")


if __name__ == "__main__":
    main()
