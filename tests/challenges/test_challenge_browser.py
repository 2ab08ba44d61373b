"""The main road of a challenge in a real browser: from a visitor to a chosen entry on the board."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from reelscore.challenges.boards.board_forms import board_html
from reelscore.challenges.boards.boards import BoardEntry, make_board
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.web.site import static_file
from support.browser import faults, follow, is_within, new_visitor, press
from support.challenge_data import SECOND, START, captions, new_challenge
from support.results import column, made_result, table_of
from support.server import PASSWORD, serve


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    made = new_challenge(folder / "dogs.db", folder, more='final = "chosen"')
    made.database.close()
    clock = lambda: (START + SECOND) / 1e6  # noqa: E731
    with serve(str(folder / "dogs.db"), clock=clock, scorers=1) as served:
        pages = served.app.state.challenges
        challenge = pages.challenges.find()
        for number, name in enumerate(("Theirs", "Others")):
            team = add_team(challenge, name)
            hand_in(
                challenge, pages.readers, "main", team, Upload("run.json", captions(number + 1))
            )
        yield served


def file(name, content):
    return {"name": name, "mimeType": "application/json", "buffer": content}


def with_resource_forks(content):
    """Pack a file as macOS does."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("__MACOSX/._run.json", b"x")
        archive.writestr("run.json", content)
    return packed.getvalue()


def test_from_a_visitor_to_the_board(served, page, shoot):
    here = f"{served.url}/challenges/dogs"
    page.goto(here)
    assert faults(page) == []
    follow(page, "Take part")
    page.fill("input[name=name]", "pat")
    page.fill("input[name=password]", PASSWORD)
    press(page, "Make the account")
    page.fill("input[name=name]", "Ours")
    page.check("input[name=accept]")
    press(page, "Make the team")
    assert faults(page) == []
    follow(page, "Submit")
    page.set_input_files("input[type=file]", file("bad.json", b'{"v1": "a man", "v2": ""}'))
    press(page, "Submit")
    assert "nothing was charged" in page.inner_text("#refused")
    assert "item 'v2': the caption is empty" in page.inner_text(".problems")
    assert faults(page) == []
    shoot(page, "challenge-refused")
    page.set_input_files("input[type=file]", file("run.zip", with_resource_forks(captions())))
    press(page, "Check only")
    assert "__MACOSX" in page.inner_text("[role=status]")
    assert faults(page) == []
    page.set_input_files("input[type=file]", file("run.json", captions()))
    press(page, "Submit")
    page.wait_for_url("**/mine")
    page.evaluate("window.stays = true")
    page.wait_for_selector("dl.scores")
    assert page.evaluate("window.stays") is True  # without a reload
    assert faults(page) == []
    page.get_by_role("button", name="Choose submission 1").click()
    page.wait_for_selector("text=Your choice is noted")
    assert page.inner_text("tbody th .chip") == "chosen"
    shoot(page, "challenge-mine")
    follow(page, "Report of submission 1", exact=False)
    report = page.url.removeprefix(here)
    assert "CIDEr" in page.inner_text("table")
    assert faults(page) == []
    shoot(page, "challenge-report")
    page.goto(f"{here}/boards/test")
    page.wait_for_selector("table.board button")
    assert faults(page) == []
    first = page.locator("table.board tbody tr").first
    page.wait_for_selector("table.board:not(:has(tbody tr:nth-child(4))) tbody tr:nth-child(3)")
    top = first.inner_text()
    button = page.locator("table.board thead button", has_text="CIDEr")
    button.focus()
    page.keyboard.press("Enter")
    assert button.locator("xpath=..").get_attribute("aria-sort") == "ascending"
    assert first.inner_text() != top
    page.keyboard.press("Space")
    assert first.inner_text() == top
    shoot(page, "challenge-board")
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    pages = ("", "/boards/test", "/submit", "/mine", "/team", "/log", "/rules", "/data", report)
    for path in pages:
        page.goto(here + path)
        assert is_within(page), path
        assert faults(page) == [], path


def test_the_checker_counts_faults_of_every_impact(page):
    """What WCAG demands counts, however little harm axe sees in it."""
    page.set_content(
        '<html lang="en"><meta name="viewport" content="user-scalable=no"><title>Small</title>'
        "<main><h1>Small</h1></main>"
    )
    assert [name for name, _ in faults(page)] == ["meta-viewport"]


def large_board():
    """Write a page with a board of 70 teams, with the look and the script of the real one."""
    names = ("bleu", "meteor", "cider")
    columns = [column(name, name.upper()) for name in names]
    entries = [BoardEntry(str(k), f"Team {k}", k) for k in range(70)]
    table = table_of({str(k): [made_result(name, k / 100) for name in names] for k in range(70)})
    board = board_html(make_board("b", "Board", table, entries, columns, primary="cider"))
    style = "".join(
        static_file(name).read_text() for name in ("style.css", "organise.css", "board.css")
    )
    script = static_file("board.js").read_text()
    return (
        '<html lang="en"><meta name="viewport" content="width=device-width"><title>Board</title>'
        f'<style>{style}</style><body class="organise challenges"><main><h1>Board</h1>{board}'
        f'</main><script type="module">{script}</script>'
    )


def test_a_large_board_is_searched_and_paged_and_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.set_content(large_board())
    page.wait_for_selector(".board-tools")
    assert is_within(page)
    assert faults(page) == []
    teams = page.locator("table.board tbody tr:not([hidden]) bdi")
    assert (teams.count(), teams.first.inner_text()) == (50, "Team 69")
    press(page, "Next")
    assert (teams.count(), teams.first.inner_text()) == (20, "Team 19")
    page.fill("input[type=search]", "team 6")
    assert teams.all_inner_texts() == [f"Team {k}" for k in (*range(69, 59, -1), 6)]
    row = page.locator("table.board tbody tr:not([hidden])").first
    assert not row.locator("td", has_text="0.6900").first.is_visible()
    press(page, "All scores of Team 69")
    assert row.locator("td").all_inner_texts()[2].endswith("0.6900")
    assert row.locator("td[data-label=METEOR]").is_visible()
    assert is_within(page)
    page.set_viewport_size({"width": 1000, "height": 800})
    assert not row.locator(".more").is_visible()


def test_without_scripts(served, chromium):
    context = new_visitor(chromium, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{served.url}/challenges/dogs/register")
    page.fill("input[name=name]", "sam")
    page.fill("input[name=password]", PASSWORD)
    press(page, "Make the account")
    page.fill("input[name=name]", "Plain")
    page.check("input[name=accept]")
    press(page, "Make the team")
    page.goto(f"{served.url}/challenges/dogs/submit")
    content = json.dumps(dict.fromkeys(json.loads(captions()), "a plain caption")).encode()
    page.set_input_files("input[type=file]", file("run.json", content))
    press(page, "Check only")
    assert "can be scored" in page.inner_text("[role=status]")
    page.set_input_files("input[type=file]", file("run.json", content))
    press(page, "Submit")
    assert "Submission 1 is accepted" in page.inner_text("main")
    page.goto(f"{served.url}/challenges/dogs/boards/test")
    assert "Theirs" in page.inner_text("table.board")
    context.close()
