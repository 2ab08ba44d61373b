"""Behind nginx with a path prefix and https, by the configuration that the guide gives."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from reelscore.campaigns.store import raters
from reelscore.web.store.accounts import add_account
from reelscore.web.store.schema import open_database
from support.server import OWNER, PASSWORD, free_port, serve_apart, small_campaign

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
pytestmark = pytest.mark.skipif(
    NGINX is None or shutil.which("openssl") is None, reason="there is no nginx on this machine"
)
GUIDE = Path(__file__).parents[2] / "docs" / "host.md"
WHOLE = """
{user} daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert; ssl_certificate_key {folder}/key;
        {location}
    }}
}}
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory, videos):
    """The address of a server behind nginx; its campaign has a rater's link and an owner."""
    folder = tmp_path_factory.mktemp("proxied")
    inner, outer = free_port(), free_port()
    location = re.search(r"```nginx\n(.*?)```", GUIDE.read_text(), re.S)[1]
    assert "127.0.0.1:8000" in location
    location = location.replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    config = folder / "nginx.conf"
    user = "user root;" if os.getuid() == 0 else ""  # or it could not write into the folder
    config.write_text(WHOLE.format(user=user, folder=folder, port=outer, location=location))
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    command = [*shlex.split(command), "-keyout", f"{folder}/key", "-out", f"{folder}/cert"]
    subprocess.run(command, check=True, capture_output=True)
    small_campaign(folder / "dogs.db")
    with open_database(str(folder / "dogs.db")) as database:
        add_account(database, OWNER, PASSWORD, "owner")
    address = f"https://127.0.0.1:{outer}/rate"
    options = ["--public", "--url", address, "--videos", str(videos)]
    with serve_apart(str(folder / "dogs.db"), inner, *options):
        proxy = subprocess.Popen([NGINX, "-c", config, "-e", folder / "errors"])
        try:
            wait_for(address)
            yield address
        finally:
            proxy.terminate()
            proxy.wait(180)


def wait_for(address):
    until = time.monotonic() + 180
    while time.monotonic() < until:
        try:
            if httpx.get(f"{address}/health", verify=False, timeout=60).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise TimeoutError(address)


@pytest.fixture
def browser(url):
    with httpx.Client(verify=False, follow_redirects=True, timeout=300) as client:
        client.headers["accept"] = "text/html"
        yield client


def proof(page):
    return re.search(r'(?:name="proof" value|data-proof)="([^"]+)"', page.text)[1]


def paths(page):
    matches = re.findall(
        r'(?:href|src|action|data-send|data-home|data-refresh)="(/[^"]*)"', page.text
    )
    assert matches
    return matches


def test_an_organiser_logs_in_and_uploads(url, browser):
    page = browser.get(f"{url}/organise")
    assert page.url.path == "/rate/organise/login"
    style = page.text.partition('href="')[2].partition('"')[0]
    assert browser.get(httpx.URL(url).join(style)).headers["content-type"].startswith("text/css")
    said = {"proof": proof(page), "name": OWNER, "password": PASSWORD}
    page = browser.post(f"{url}/organise/login", data=said)
    assert page.url.path == "/rate/organise"
    cookies = page.history[0].headers.get_list("set-cookie")
    assert len(cookies) == 2  # the session, and whose the browser was
    assert all("; Path=/rate/; " in cookie for cookie in cookies)
    assert all(cookie.endswith("Secure") for cookie in cookies)
    assert all(path.startswith("/rate/") for path in paths(page) if path != "/rate")
    padding = " " * (3 << 20)  # more than nginx takes unless it is told
    captions = json.dumps({f"v{k}": f"a dog {k}" for k in range(40)}) + padding
    references = json.dumps({f"v{k}": [f"a brown dog runs along the {k}"] for k in range(40)})
    page = browser.post(
        f"{url}/organise/new",
        data={
            "proof": said["proof"],
            "name": "Proxied",
            "layout": "systems:15 humans:10 degraded_humans:10",
        },
        files=[("systems", ("mine.json", captions)), ("references", ("refs.json", references))],
    )
    assert page.url.path == "/rate/organise/c/proxied", page.text


def test_a_rater_watches_and_answers(url, browser, tmp_path_factory):
    folder = next(tmp_path_factory.getbasetemp().glob("proxied*"))
    with open_database(str(folder / "dogs.db")) as database:
        (token,) = raters.invite(database, "dogs", ["r1"], 1)
    page = browser.get(f"{url}/r/{token}")
    page = browser.post(f"{url}/r/{token}", data={"proof": proof(page)})
    assert page.url.path == "/rate/c/dogs/instructions"
    page = browser.post(f"{url}/c/dogs/instructions", data={"proof": proof(page)})
    assert page.url.path == "/rate/c/dogs/task/1"
    assert all(path.startswith("/rate/") for path in paths(page))
    video = httpx.URL(url).join(re.search(r'<video[^>]* src="([^"]+)"', page.text)[1])
    part = browser.get(video, headers={"range": "bytes=4-7"})
    whole = browser.get(video)
    assert (part.status_code, part.content) == (206, whole.content[4:8])
    now = time.time()
    sent = {"assignment": 1, "task": 1, "answer": {"adequacy": [71]}, "seen": 1}
    kept = browser.post(
        f"{url}/c/dogs/answers",
        json=sent | {"started": now - 5, "submitted": now},
        headers={"x-form-proof": proof(page), "origin": f"{url}"[: -len("/rate")]},
    )
    assert kept.json()["new"]
    assert browser.get(f"{url}/c/dogs/{kept.json()['next']}").url.path == "/rate/c/dogs/task/2"


def test_nobody_escapes_the_limits_by_a_forged_address(url, browser):
    codes = [
        browser.get(f"{url}/r/guess{k}", headers={"x-forwarded-for": f"10.0.0.{k}"}).status_code
        for k in range(12)
    ]
    assert codes == [404] * 10 + [429] * 2
