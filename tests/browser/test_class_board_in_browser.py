"""The class's board in Chromium: both themes, from the back of a room, by itself up to date; and the questions."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "classroom"))

from boards import Board, board, start  # noqa: E402
from classes import reports  # noqa: E402

from lockstep.classroom.inventory import questions  # noqa: E402
from lockstep.cli import main  # noqa: E402
from lockstep.reports.report import Report, Result  # noqa: E402

CLASS = 60
SIZES = ((1920, 1080), (1366, 768), (1024, 768))
READ = """() => ({
  fits: document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight,
  smallest: Math.min(...[...document.querySelectorAll('body *')].filter((e) => e.offsetParent && e.children.length === 0
    && e.textContent.trim()).map((e) => parseFloat(getComputedStyle(e).fontSize))) / innerHeight,
})"""


def send(to: Board, what: str, body: bytes) -> None:
    urllib.request.urlopen(urllib.request.Request(to.place(what), body, method="POST"), timeout=60).close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    with board(tmp_path_factory.mktemp("class") / "board.jsonl", "--bind", "0.0.0.0") as it:
        for report in reports(CLASS):
            send(it, "report", report.written())
        yield it


class Window:
    """A page of the board, and what its console and its network have said."""

    def __init__(self, browser: Browser, size: tuple[int, int] = SIZES[0], scheme: Any = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, service_workers="block"
        )
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address: str) -> Page:
        self.page.goto(address)
        return self.page

    def board(self, address: str) -> Page:
        self.open(address).locator("body[data-drawn]").wait_for()
        return self.page

    def shot(self, name: str) -> None:
        shots = ROOT / "tests" / "screenshots"
        shots.mkdir(exist_ok=True)
        self.page.screenshot(path=shots / f"{name}.png")
        self.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_board_is_read_from_the_back_of_a_room(running: Board, browser: Browser, scheme: str) -> None:
    """All of it at once, and no letter smaller than a fiftieth of the picture's height."""
    window = Window(browser, SIZES[0], scheme)
    page = window.board(running.address)
    seen = page.evaluate(READ)
    assert seen["fits"]
    assert seen["smallest"] > 0.019
    assert page.locator("#units tr").count() == 14
    assert f"{CLASS} learners have joined" in (page.locator("#people").text_content() or "")
    assert page.locator("#stuck li").count()
    assert "Grace H." in (page.locator("#names").text_content() or "")
    assert f"lockstep board --join '{running.address}'" in (page.locator("#join").text_content() or "")
    assert window.said == []
    assert [url for url in window.asked if not url.startswith((running.url, "data:"))] == []
    window.shot(f"class-board-{scheme}")


@pytest.mark.parametrize("learners", ["7", "225", "1000"])
def test_how_many_are_stuck_stands_beside_on_what(running: Board, browser: Browser, learners: str) -> None:
    """Of 225 learners the last digit stood at the first letter of the misconception."""
    window = Window(browser)
    page = window.board(running.address)
    number, words = (page.locator(f"#stuck li:first-child {part}") for part in ("b", "strong"))
    number.evaluate("(e, text) => { e.textContent = text; }", learners)
    assert number.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    ends, begins = number.bounding_box(), words.bounding_box()
    assert ends
    assert begins
    assert ends["x"] + ends["width"] + 5 < begins["x"]
    window.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES[1:])
def test_smaller_projectors_have_all_of_it_too(running: Board, browser: Browser, size: tuple[int, int]) -> None:
    window = Window(browser, size)
    assert window.board(running.address).evaluate(READ)["fits"]
    window.shot(f"class-board-{size[0]}")


def test_its_colours_have_contrast_in_both_themes(running: Board, browser: Browser) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core comes with the extra site")
    window = Window(browser)
    for address in (running.address, running.place("questions/before")):
        window.open(address).locator("body[data-drawn], form").first.wait_for()
        for _ in range(2):
            found = axe.Axe().run(window.page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []
            window.page.emulate_media(color_scheme="dark")
    window.context.close()


def test_it_shows_a_report_by_itself_and_its_button_turns_the_theme(running: Board, browser: Browser) -> None:
    window = Window(browser)
    page = window.board(running.address)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    solved = Result(1, "why_parallel.amdahl", 1.0)
    send(running, "report", Report("e" * 32, "Late", (solved,)).written())
    page.get_by_text("Late 1").wait_for(timeout=60_000)
    send(running, "leave", json.dumps({"version": 1, "learner": "e" * 32}).encode())
    page.get_by_text("Late 1").wait_for(state="detached", timeout=60_000)
    assert window.said == []
    window.context.close()


@pytest.mark.slow
def test_it_says_that_the_board_is_away_and_goes_on_when_it_is_back(browser: Browser, tmp_path: Path) -> None:
    first = start(tmp_path / "board.jsonl")
    window = Window(browser)
    page = window.board(first.address)
    first.kill()
    page.get_by_text("The board does not answer.").wait_for(timeout=60_000)
    again = start(tmp_path / "board.jsonl", port=int(first.url.rsplit(":", 1)[1].strip("/")))
    page.get_by_text("The board does not answer.").wait_for(state="detached", timeout=120_000)
    window.context.close()
    again.kill()


@pytest.mark.slow
def test_a_class_answers_before_and_after_and_the_analysis_reads_it(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two learners in browsers of their own: one learns all, one nothing; each is the same both times by a code."""
    keep = tmp_path / "board.jsonl"
    with board(keep) as running:
        for learns in (True, False):
            window = Window(browser, SIZES[2])
            page = window.open(running.place("questions/before"))
            code = page.locator("#code").input_value()
            page.get_by_role("button", name="Send").click()
            page.get_by_text("Your choices have arrived").wait_for()
            page.goto(running.place("questions/after"))
            assert page.locator("#code").input_value() == code
            for question in questions("after") if learns else ():
                page.locator(f'input[name="q{question.number}"][value="{question.right}"]').check()
            page.get_by_role("button", name="Send").click()
            page.get_by_text("Your choices have arrived").wait_for()
            page.reload()
            page.get_by_role("button", name="Send").click()
            page.get_by_text("the first answers count").wait_for()
            assert [text for text in window.said if "400" not in text] == []
            window.shot(f"inventory-{learns}")
        assert main(["board", "--keep", str(keep), "--export", str(tmp_path)]) == 0
    assert main(["board", "--inventory", str(tmp_path / "before.csv"), str(tmp_path / "after.csv")]) == 0
    said = capsys.readouterr().out
    assert "2 learners answered both times" in said
    assert "The class: 0% right before, 50% after." in said
