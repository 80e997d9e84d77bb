"""The board in headless Chromium: drawn by keyboard and by mouse, it says why a cell is marked, copies and trains."""

from __future__ import annotations

from typing import Any

import pytest
from test_widgets_browser import DARK, show  # noqa: F401

from lockstep.pipeline.drawn_schedule import drawing
from lockstep.show import board

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SHORT = "F0 F1 .. B0 .. B1\n.. F0 B0 F1 B1 .."


def cell(page: Any, stage: int, slot: int) -> Any:
    return page.locator(f'[data-at="{stage},{slot}"]')


def status(page: Any, text: str) -> None:
    page.get_by_role("status").get_by_text(text).wait_for()


def typed(page: Any, keys: str) -> None:
    named = {"→": "ArrowRight", "←": "ArrowLeft", "↓": "ArrowDown", "↑": "ArrowUp"}
    press(page, *(named.get(key, key) for key in keys.split()))


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(60)  # a learner is no faster


def test_a_schedule_is_drawn_by_keyboard_alone_and_trains(show: Any) -> None:  # noqa: F811
    figure = board(2, 2, 2)
    page = show(figure)
    press(page, "Tab")
    assert page.evaluate("document.activeElement.dataset.at") == "0,0"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "stage 0, slot 0: nothing"
    typed(page, "f 0 → F → → b Enter → → b 1")
    typed(page, "Home ↓ → F → B → F → B Enter")
    status(page, "The drawing is legal. It takes 6 slots; none takes fewer.")
    assert figure.text == SHORT
    press(page, "Tab", "Enter")
    status(page, "The drawing trains a model: on 2 ranks the loss went from")
    assert page.evaluate("document.activeElement.textContent") == "Train with it"
    losses = page.get_by_role("table").locator("td").all_text_contents()
    assert losses[::2] == losses[1::2]
    assert "6 slots, 33% idle" in page.locator(".ls-picture svg").text_content()


def test_enter_after_a_move_writes_the_next_pass_or_says_why_not(show: Any) -> None:  # noqa: F811
    """It did nothing, and said nothing, unless a letter had been typed."""
    figure = board(1, 2, 2)
    page = show(figure)
    press(page, "Tab")
    typed(page, "Enter → Enter → Enter")
    status(page, "Stage 0 has every F. Type B for the other passes.")
    assert figure.rows == [["F0", "F1"]]
    typed(page, "b → Enter ← Enter")
    status(page, "B0 stands here. Delete clears it; F or B and a number write another.")
    assert figure.rows == [["F0", "F1", "B0", "B1"]]


def test_what_is_drawn_is_stored(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    figure, stored = board(1, 2, 2), list[str]()
    monkeypatch.setattr(figure, "keep", lambda: stored.append(figure.text))
    page = show(figure)
    press(page, "Tab")
    typed(page, "Enter → Enter")
    page.wait_for_timeout(3000)
    assert stored == ["F0 F1"], "once, after the pause"
    typed(page, "→ b Enter")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(500)
    assert stored == ["F0 F1", "F0 F1 B0"]
    page.wait_for_timeout(2500)
    assert len(stored) == 2, "nothing has changed"


@pytest.mark.slow
def test_digits_correct_and_keys_clear(show: Any) -> None:  # noqa: F811
    figure = board(1, 12, 12)
    page = show(figure)
    press(page, "Tab", "3")
    status(page, "Type F or B first, then the number.")
    press(page, "F", "1", "1")
    assert figure.rows == [["F11"]]
    press(page, "2")
    assert figure.rows == [["F2"]]
    typed(page, "→ B Escape ← Delete")
    assert figure.rows == [[]]
    typed(page, "F 4 Space B Space")
    assert figure.rows == [[]]


def test_passes_are_dragged_and_an_illegal_one_is_marked_with_its_reason(show: Any) -> None:  # noqa: F811
    figure = board(2, 2, 2)
    page = show(figure)
    offered = page.get_by_role("group", name="stage 0 still needs")
    assert offered.get_by_role("button").all_text_contents() == ["F0", "F1", "B0", "B1"]
    offered.get_by_role("button", name="F0").drag_to(cell(page, 0, 1))
    status(page, "No rule is broken so far. 1 of 8 passes are placed.")
    assert offered.get_by_role("button").all_text_contents() == ["F1", "B0", "B1"]
    cell(page, 1, 0).click()
    page.get_by_role("group", name="stage 1 still needs").get_by_role("button", name="F0").drag_to(cell(page, 1, 1))
    status(page, "Rule 2, stage 1, slot 1: F0 stands there, and F0 of stage 0 stands in slot 1: F0 has to be later.")
    marked = cell(page, 1, 1)
    assert marked.text_content() == "F0", "it stays visible"
    assert marked.get_attribute("aria-invalid") == "true"
    assert "Marked: rule 2" in marked.get_attribute("aria-label")
    assert "gradient" in marked.evaluate("e => getComputedStyle(e).backgroundImage"), "not by colour alone"
    page.get_by_role("button", name="Train with it").click(force=True)  # it says why not
    status(page, "It can't train yet. Rule 2")
    marked.drag_to(cell(page, 1, 2))
    status(page, "No rule is broken so far. 2 of 8 passes are placed.")
    assert figure.text == ".. F0 ..\n.. .. F0"


@pytest.mark.slow
def test_a_pass_is_clicked_then_placed(show: Any) -> None:  # noqa: F811
    figure = board(2, 2, 2)
    page = show(figure)
    page.get_by_role("button", name="F1").click()
    status(page, "Now choose a cell for F1.")
    assert page.get_by_role("button", name="F1").get_attribute("aria-pressed") == "true"
    cell(page, 0, 2).click()
    status(page, "1 of 8")
    assert figure.rows[0] == ["..", "..", "F1"]
    assert page.evaluate("document.activeElement.dataset.at") == "0,2"
    page.get_by_role("button", name="B0").focus()
    typed(page, "Enter Shift+Tab Shift+Tab → Enter")
    assert figure.rows[0] == ["..", "..", "F1", "B0"]


@pytest.mark.slow
def test_what_is_counted_follows_the_drawing(show: Any) -> None:  # noqa: F811
    page = show(board(2, 2, 1, "F0 F1 .. B0\n.. F0 B0"), DARK)
    assert page.get_by_text("4 slots so far; the shortest legal drawing takes 8. 3 of 8 cells are idle").count() == 1
    assert page.get_by_role("rowheader").all_text_contents() == ["stage 0keeps 2", "stage 1keeps 1"]
    cell(page, 0, 0).click()
    press(page, "ArrowRight")
    status(page, "rule 4, stage 0, slot 1: the stage keeps 2 micro-batches; the cap is 1")
    press(page, "Delete")
    assert page.get_by_role("rowheader").all_text_contents() == ["stage 0keeps 1", "stage 1keeps 1"]
    columns = page.get_by_role("columnheader").count()
    cell(page, 1, columns - 2).click()
    press(page, "F", "1")
    assert page.get_by_role("columnheader").count() == columns + 1, "there is always room"


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [True, False])
def test_the_text_is_copied_or_selected(show: Any, allowed: bool) -> None:  # noqa: F811
    page = show(board(2, 2, 2, SHORT))
    write = "t => { window.copied = t; return Promise.resolve(); }" if allowed else "() => Promise.reject(new Error())"
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{value: {{writeText: {write}}}}})")
    page.get_by_role("button", name="Copy as text").click()
    if allowed:
        status(page, "The text is copied.")
        assert page.evaluate("window.copied") == SHORT
    else:
        status(page, "copy it with Ctrl+C")
        assert page.evaluate("getSelection().toString() || document.activeElement.value") == SHORT


@pytest.mark.slow
def test_20_slots_fit_beside_the_file_browser_of_a_window_of_960_pixels(show: Any) -> None:  # noqa: F811
    page = show(board(4, 6, 3, drawing(4, 6, 3)), "body { margin: 0; width: 508px; }")
    read = """() => ({
      inside: document.querySelector('.ls-grid').scrollWidth <= document.querySelector('.ls-grid').clientWidth,
      fit: [...document.querySelectorAll('.ls-cell')].every((e) => e.scrollWidth <= e.clientWidth),
      smallest: Math.min(...[...document.querySelectorAll('.ls-figure, .ls-figure *')]
        .map((e) => parseFloat(getComputedStyle(e).fontSize))),
    })"""
    seen = page.evaluate(read)
    assert seen["inside"]
    assert seen["fit"]
    assert seen["smallest"] >= 13
