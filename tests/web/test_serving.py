"""The commands that serve, as processes: start, refusals, stop."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from support.server import free_port, small_campaign, wait_for

PATIENCE = 300  # seconds; only for what never comes
SCRIPT = "from reelscore.cli.main import main; main()"


def start(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def refused(*arguments, **environment):
    process = start(*arguments, **environment)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, errors
    return errors


def test_start_and_stop(tmp_path):
    small_campaign(tmp_path / "dogs.db")
    port = free_port()
    process = start("serve", str(tmp_path / "dogs.db"), "--port", str(port))
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        link = re.search(r"http://\S+/organise/setup/\S+", process.stdout.readline())[0]
        with urllib.request.urlopen(link, timeout=PATIENCE) as page:
            assert "Make the owner" in page.read().decode()
        assert (tmp_path / "dogs.db.secret").stat().st_mode & 0o777 == 0o600
    finally:
        process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE)
    assert '"route":"/organise/setup/{token}"' in errors
    assert link.rpartition("/")[2] not in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "secret", "message"),
    [
        (["--host", "0.0.0.0"], "s" * 40, "add --public and --url"),
        (["--public"], "s" * 40, "needs its public address"),
        (["--public", "--url", "https://lab.example"], "changethis", "secret of its own"),
        (["--public", "--url", "lab.example"], "s" * 40, "not the address of a server"),
        (["--videos", "nowhere"], "s" * 40, "no such folder"),
    ],
)
def test_refusals(tmp_path, arguments, secret, message):
    errors = refused("serve", str(tmp_path / "x.db"), *arguments, REELSCORE_SECRET=secret)
    assert message in errors
    assert not (tmp_path / "x.db").exists()


def test_postgresql_needs_a_secret_of_its_own():
    assert "no secret to sign with" in refused("serve", "postgresql://u@h/d", REELSCORE_SECRET="")


def test_demo():
    port = free_port()
    process = start("demo", "campaign", "--port", str(port))
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/join/demo", timeout=PATIENCE) as page:
            assert "Begin" in page.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
