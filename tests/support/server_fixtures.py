"""What the tests of the server share: pages, videos, and a place for screenshots."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

from argon2 import PasswordHasher

from reelscore.corpus.project import Project
from reelscore.examples.drawn_videos import draw_videos
from reelscore.web import security
from support.browser import new_visitor
from support.challenge_server import Participant
from support.review import review_project
from support.visits import Visitor

WINDOW = {"width": 1280, "height": 900}


@pytest.fixture(scope="package", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hash passwords at little cost: with the shipped one, it is most of a short test."""
    with pytest.MonkeyPatch.context() as patch:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(security, "_hasher", cheap)
        yield


@pytest.fixture
def page(chromium) -> Iterator[object]:
    """A page of a new visitor; errors in its console, such as refused scripts, fail the test."""
    context = new_visitor(chromium, viewport=WINDOW)
    page, said = context.new_page(), []
    page.on("console", lambda message: message.type == "error" and said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    # what tests bring about on purpose: no connection, a server that ends before the page (while it
    # answers, or before it is asked), and a form that is refused
    meant = ("INTERNET_DISCONNECTED", "ERR_CONNECTION_", "ERR_EMPTY_RESPONSE", "status of 422")
    assert [text for text in said if not any(each in text for each in meant)] == []


@pytest.fixture
def quiet_page(chromium) -> Iterator[object]:
    """A page of a new visitor, for tests in which requests fail: its console is not read."""
    context = new_visitor(chromium, viewport=WINDOW)
    yield context.new_page()
    context.close()


@pytest.fixture
def owner(app: object) -> Visitor:
    """An owner, logged in to the test's app."""
    visitor = Visitor(app)
    visitor.log_in()
    return visitor


@pytest.fixture
def member(app: object) -> Participant:
    """Pat, the captain of a team in the challenge of an app."""
    visitor = Participant(app)
    visitor.register("pat")
    visitor.make_team("Ours")
    return visitor


@pytest.fixture
def assistant(app: object) -> Visitor:
    """An assistant called bob, logged in to the test's app."""
    visitor = Visitor(app)
    visitor.log_in("bob", "assistant")
    return visitor


@pytest.fixture
def shoot(shots) -> Callable[..., None]:
    """Take a picture of a page, where pictures are wanted."""

    def take(page: object, name: str, *, whole: bool = True) -> None:
        if shots is not None:
            page.screenshot(path=shots / f"{name}.png", full_page=whole)

    return take


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of short videos for the example's items."""
    folder = tmp_path_factory.mktemp("videos")
    draw_videos(folder, [f"clip{k:02}" for k in range(1, 16)], seconds=1.0)
    return folder


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where screenshots go, if anywhere: the folder named by REELSCORE_SHOTS."""
    named = os.environ.get("REELSCORE_SHOTS")
    if not named:
        return None
    Path(named).mkdir(parents=True, exist_ok=True)
    return Path(named)


@pytest.fixture(scope="session")
def made_review(tmp_path_factory):
    """A project to review, made once."""
    return review_project(tmp_path_factory.mktemp("review"))


@pytest.fixture
def project(made_review, tmp_path):
    """A copy of it, to decide about."""
    return Project.open(shutil.copytree(made_review.folder, tmp_path / "films"))
