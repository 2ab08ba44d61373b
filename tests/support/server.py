"""A server for tests: in a thread of this process, or in a process that can be killed."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.store import raters
from reelscore.web.app import create_app
from reelscore.web.limits import PromptProtocol
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import add_account

OWNER, PASSWORD = "ada", "correct horse battery"
SECRET = "s" * 40
_held: list[socket.socket] = []


def free_port() -> int:
    """Give a port for a server, and keep it from everybody else until the tests end.

    A server may listen where a socket is bound that does not listen itself; nobody else who asks
    for any port is given this one meanwhile.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    _held.append(held)
    return int(held.getsockname()[1])


class Served:
    """A running server and its database."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.url = settings, settings.url
        self.app = create_app(settings)
        self.site = self.app.state.site

    def invite(self, campaign: str, *names: str) -> list[str]:
        tokens = raters.invite(self.site.database, campaign, names or [""], 1)
        return [f"{self.url}/r/{token}" for token in tokens]

    def add_owner(self) -> None:
        add_account(self.site.database, OWNER, PASSWORD, "owner")

    def campaign(self, id: str) -> Campaign:
        return self.app.state.campaigns.get(id)


@contextmanager
def serve(database: str, **settings: object) -> Iterator[Served]:
    """Serve in a thread."""
    port = free_port()
    prefix = settings.pop("prefix", "")
    served = Served(
        Settings(database, secret=SECRET, url=f"http://127.0.0.1:{port}{prefix}", **settings)
    )
    config = uvicorn.Config(
        served.app, port=port, http=PromptProtocol, log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(f"{served.url}/health")
    try:
        yield served
    finally:
        server.should_exit = True
        thread.join(180)


@contextmanager
def serve_apart(database: str, port: int, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Serve in a process of its own, by the command."""
    script = "from reelscore.cli.main import main; main()"
    program = [sys.executable, "-c", script, "serve", database, "--port", str(port)]
    process = subprocess.Popen(
        [*program, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        yield process
    finally:
        process.kill()
        process.wait(180)


def wait_for(url: str, seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as answer:
            if answer.status == 200:
                return
        time.sleep(0.05)
    raise TimeoutError(url)


def small_campaign(
    where: str | Path,
    *,
    protocol: str = "direct-assessment",
    captions: int = 1,
    tasks: int = 3,
    hits: int = 2,
    pages: dict[str, object] | None = None,
    id: str = "dogs",
    systems: tuple[str, ...] = ("alpha-net", "beta-net", "human"),
    clock: Callable[[], float] = time.time,
) -> None:
    """Make an open campaign whose captions tell their places, and whose kinds are mixed."""
    kinds = ("caption", "degraded", "repeat") if captions == 1 else ("caption",)
    with Campaign.create(
        where,
        "Dogs of 2017",
        systems=systems,
        protocol=protocol,
        id=id,
        # tests work faster than people: their HITs are not reviewed unless they ask for it
        settings={"pages": {"practice": [], "review": False, **(pages or {})}},
        clock=clock,
    ) as campaign:
        campaign.add_hits(
            Hit(
                f"h{h}",
                tuple(
                    Task(
                        f"t{h}-{k}",
                        f"clip{(h * tasks + k) % 15 + 1:02}",
                        tuple(
                            Shown(
                                systems[(k + s) % len(systems)],
                                f"text {h}.{k}.{s} of a dog",
                                kinds[k % len(kinds)],
                            )
                            for s in range(captions)
                        ),
                    )
                    for k in range(tasks)
                ),
            )
            for h in range(hits)
        )
        campaign.set_state("open", actor="test")
