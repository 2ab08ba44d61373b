"""From nothing to a scored submission in the browser: ``reelscore demo challenge``.

    python -m benchmarks set-up

Starts the demo as anybody would, then makes an account and a team in Chromium, hands the sample
file in, and waits until its score is on the page. The installation before it is not measured.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import urllib.request

from benchmarks.measuring import tree_cost

PASSWORD = "a long password"


def main() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begin = time.perf_counter()
    command = [sys.executable, "-m", "reelscore", "demo", "challenge", "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)
    try:
        here = f"http://127.0.0.1:{port}"
        wait(f"{here}/health")
        print(f"{time.perf_counter() - begin:6.1f} s  the pages answer")
        take_part(here, begin)
        print(f"        {tree_cost(process.pid).cpu:.1f} s CPU of the server and its scorer")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait(url: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.05)


def take_part(here: str, begin: float) -> None:
    """Be a participant, from the first page to the score."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(f"{here}/challenges/demo/register")
        page.fill("input[name=name]", "pat")
        page.fill("input[name=password]", PASSWORD)
        page.get_by_role("button", name="Make the account").click()
        page.fill("input[name=name]", "Ours")
        page.check("input[name=accept]")
        page.get_by_role("button", name="Make the team").click()
        sample = page.request.get(f"{here}/challenges/demo/data/main/sample.json").body()
        page.goto(f"{here}/challenges/demo/submit")
        file = {"name": "captions.json", "mimeType": "application/json", "buffer": sample}
        page.set_input_files("input[type=file]", file)
        page.get_by_role("button", name="Submit", exact=True).click()
        print(f"{time.perf_counter() - begin:6.1f} s  a file is handed in")
        page.wait_for_selector("dl.scores")
        print(f"{time.perf_counter() - begin:6.1f} s  its score is on the page")
        browser.close()
