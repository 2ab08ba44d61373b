"""Hostile tries that belong to no page in particular."""

from __future__ import annotations

import json
import logging
import os

import pytest

from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.errors import DataError
from reelscore.web.app import create_app
from reelscore.web.requests import LogLines
from reelscore.web.settings import Settings, load_secret
from support.visits import SECRET, Visitor, app_over

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_headers(tmp_path):
    page = Visitor(app_over(tmp_path)).get("/organise/login")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["x-frame-options"] == "DENY"
    assert "strict-transport-security" not in page.headers
    assert "server" not in page.headers


def test_cookies(tmp_path):
    plain = Visitor(app_over(tmp_path))
    assert "HttpOnly; SameSite=Lax" in plain.get("/organise/login").headers["set-cookie"]
    settings = Settings(
        str(tmp_path / "dogs.db"), secret=SECRET, url="https://lab.example/rate", public=True
    )
    public = Visitor(create_app(settings))
    page = public.get("/rate/organise/login", headers={"host": "lab.example"})
    cookie = page.headers["set-cookie"]
    assert "; Secure" in cookie
    assert "Path=/rate/" in cookie
    assert "strict-transport-security" in page.headers


def test_other_hosts_are_refused(tmp_path):
    visitor = Visitor(app_over(tmp_path))
    assert visitor.get("/health", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", ["/rate/organise/login", "/organise/login"])
def test_a_proxy_may_cut_the_prefix_off_or_not(tmp_path, path):
    visitor = Visitor(app_over(tmp_path, prefix="/rate"))
    page = visitor.get(path)
    assert page.status_code == 200
    assert 'href="/rate/static/style.css' in page.text
    style = page.text.partition('href="')[2].partition('"')[0]
    assert visitor.get(style).status_code == 200
    assert visitor.get(style.removeprefix("/rate")).status_code == 200


def test_scripts_in_captions_and_names(tmp_path):
    app = app_over(
        tmp_path, systems=(EVIL, "human"), tasks=3, pages={"title": EVIL, "contact": EVIL}
    )

    campaign = app.state.campaigns.get("dogs")
    campaign.add_hits([Hit(EVIL, (Task("x", EVIL, (Shown(EVIL, EVIL),)),))])
    rater, owner = Visitor(app), Visitor(app)
    owner.log_in()
    pages = [rater.begin(name=EVIL).text]
    rater.answer(1)
    owner.press("/organise/c/dogs/decide", rater=EVIL, what="pay", reason=EVIL)
    for page in ("", "/live", "/raters", "/results", "/pages", "/log"):
        pages.append(owner.get(f"/organise/c/dogs{page}").text)
    second = Visitor(app)
    second.begin()
    third = Visitor(app)
    pages.append(third.begin().text)
    for text in pages:
        assert "<script>alert" not in text
        assert "<img" not in text
    assert any("&lt;script&gt;alert(1)" in text for text in pages)
    archive = owner.get("/organise/c/dogs/mturk.zip")
    assert archive.status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/c/none/work",
        "/organise/c/none",
        "/r/",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
    ],
)
def test_what_is_not_there(tmp_path, path):
    visitor = Visitor(app_over(tmp_path))
    visitor.log_in()
    assert visitor.get(path).status_code == 404


def test_large_bodies_are_refused(tmp_path):
    visitor = Visitor(app_over(tmp_path))
    visitor.begin()
    sent = visitor.post("/c/dogs/answers", content=b"x" * (2 << 20))
    assert sent.status_code == 413


def test_public_servers_need_a_secret(tmp_path):
    for secret in ("for development only", "short"):
        with pytest.raises(DataError, match="needs a secret of its own"):
            Settings("x.db", secret=secret, url="https://lab.example", public=True)


def test_the_secret_file_is_tight(tmp_path, monkeypatch):
    monkeypatch.delenv("REELSCORE_SECRET", raising=False)
    file = tmp_path / "secret"
    load_secret(file)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(DataError, match="others may read"):
        load_secret(file)
    monkeypatch.setenv("REELSCORE_SECRET", "from outside")
    assert load_secret(file) == "from outside"
    monkeypatch.delenv("REELSCORE_SECRET")
    with pytest.raises(DataError, match="no secret"):
        load_secret(None)
    assert os.environ.get("REELSCORE_SECRET") is None


def test_logs_name_nobody(tmp_path, caplog):
    app = app_over(tmp_path, pages={"prolific_code": "C1"})
    with caplog.at_level(logging.INFO, "reelscore.web"):
        visitor = Visitor(app)
        visitor.get("/prolific/dogs?PROLIFIC_PID=5f1eabc&STUDY_ID=st&SESSION_ID=se")
        link = visitor.invited(name="r-anna")
        visitor.press(link)
        visitor.get("/r/guess")
    lines = [LogLines().format(record) for record in caplog.records]
    routes = [json.loads(line)["route"] for line in lines]
    assert "/prolific/{campaign}" in routes
    assert "/r/{token}" in routes
    text = "\n".join(lines)
    for word in ("5f1eabc", "anna", link.removeprefix("/r/"), "testclient", "guess"):
        assert word not in text


def test_a_defect_says_nothing_to_strangers(tmp_path, caplog, monkeypatch):
    app = app_over(tmp_path)
    visitor = Visitor(app)
    visitor.begin()

    def broken(*_, **__):
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("reelscore.campaigns.pages.raters.task_pages.submit", broken)
    sent = visitor.answer(1)
    assert sent.status_code == 500
    assert "swordfish" not in sent.text
    formatted = "\n".join(LogLines().format(record) for record in caplog.records)
    assert "RuntimeError" in formatted
    assert "swordfish" not in formatted


def test_a_database_that_fails_is_not_described(tmp_path):
    app = app_over(tmp_path)
    visitor = Visitor(app)
    visitor.begin()
    site = app.state.site

    def failing(*_, **__):
        raise DataError(f"{site.database.place}: another program has kept it busy too long.")

    app.state.campaigns.get("dogs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reelscore.campaigns.pages.raters.task_pages.submit", failing)
        sent = visitor.answer(1)
    assert sent.status_code == 503
    assert str(tmp_path) not in sent.text
