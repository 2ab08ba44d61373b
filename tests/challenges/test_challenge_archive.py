"""The archive of a challenge, opened from disk in a browser without a network."""

from __future__ import annotations

import hashlib
import json

import pytest
from sqlalchemy import update

from reelscore.challenges.exchange.archive import write_archive
from reelscore.challenges.permissions import Who
from reelscore.challenges.store import tables
from reelscore.errors import DataError
from support.browser import faults, follow, new_visitor
from support.challenge_data import open_view
from support.challenges import OPENS, REVEALS, made_with


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    made = made_with(tmp_path_factory.mktemp("challenge"))
    pages = {"overview": "Ten **clips**.", "rules": "No <script>alert(1)</script>."}
    with made.database.writing() as connection:
        connection.execute(update(tables.challenge).values(pages=json.dumps(pages)))
    with made.database:
        yield made.database


@pytest.fixture(scope="module")
def folder(database, tmp_path_factory):
    target = tmp_path_factory.mktemp("site") / "archive"
    write_archive(open_view(database, "clips", now=REVEALS), target)
    return target


@pytest.fixture
def visit(chromium, folder):
    contexts = []

    def open_page(name, **options):
        context = new_visitor(chromium, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{folder}/{name}")
        assert all(url.startswith(("file://", "data:")) for url in requests)
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_it_opens_from_disk_without_a_network(visit):
    page = visit("index.html")
    assert page.locator("h1").inner_text() == "Ten clips"
    assert page.locator(".winners").inner_text() == "strong"
    follow(page, "main")
    assert page.locator("table.board tbody tr").count() == 4
    follow(page, "Rules")
    assert "<script>alert(1)</script>" in page.locator("main").inner_text()


def test_the_board_is_sorted_by_keyboard(visit):
    page = visit("board-main.html")

    def teams():
        return page.locator("table.board tbody th bdi:first-child").all_inner_texts()[::2]

    by_score = teams()
    assert by_score == ["human", "strong", "weak", "broken"]
    button = page.get_by_role("button", name="Team")
    button.focus()
    page.keyboard.press("Enter")
    assert teams() == sorted(by_score)
    assert page.locator("th[aria-sort]").inner_text().startswith("Team")
    assert page.locator("tr.edge").count() == 0
    page.get_by_role("button", name="CIDEr").click()
    assert teams() == by_score
    assert page.locator("tr.edge").count() == 3


@pytest.mark.parametrize(
    ("name", "scheme", "paper"),
    [
        ("index.html", "light", "rgb(255, 255, 255)"),
        ("board-main.html", "dark", "rgb(21, 23, 26)"),
    ],
)
def test_it_fits_a_phone_and_has_no_barriers(visit, name, scheme, paper):
    page = visit(name, viewport={"width": 360, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert faults(page) == []


def test_it_reads_without_scripts_and_on_paper(visit):
    page = visit("board-main.html", java_script_enabled=False)
    assert page.locator("table.board tbody tr").count() == 4
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("table.board").is_visible()
    with_scripts = visit("board-main.html")
    with_scripts.emulate_media(media="print")
    assert with_scripts.get_by_role("button", name="CIDEr").is_visible()  # the column's heading
    assert with_scripts.get_by_role("button", name="Copy").count() == 0


def test_checksums_are_right_and_links_lead_somewhere(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {line.split("  ")[1] for line in lines} | {"SHA256SUMS"}


def test_an_archive_shows_what_a_visitor_sees(database, folder, tmp_path):
    target = tmp_path / "early"
    write_archive(open_view(database, "clips", now=OPENS + 1), target)
    page = (target / "board-main.html").read_text()
    assert page.count("scores are not shown yet") == 4
    exact = open_view(database, "clips", Who("owner"), now=OPENS).board("main")
    number = repr(exact.table[exact.rows[0].id]["cider"].score).encode()

    def content(site):
        return b"".join(path.read_bytes() for path in site.rglob("*.*"))

    assert number not in content(target)
    assert number in content(folder)
    with pytest.raises(DataError, match="visitor"):
        write_archive(open_view(database, "clips", Who("owner"), now=OPENS), tmp_path / "x")
    with pytest.raises(DataError, match="already"):
        write_archive(open_view(database, "clips", now=OPENS), target)
