"""Unit 12's lesson as a learner meets it: it waits, lines drive tables, and an axis is dragged onto the network."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/12_hybrid/lesson.ipynb"
LINES = {
    "seat": "def seat(rank, tp, dp):\n    return rank % tp, rank // tp % dp, rank // (tp * dp)",
    "zigzag": "def zigzag(r, K):\n    return [r, 2 * K - r - 1]",
    "interval": "def interval(d, M):\n    return (2 * M * d) ** 0.5",
}
TABLES = ("axes.groups_table", "context.pairs_table", "lasting.interval_table")
ANSWERS = (('"heavier",', "1"), ('"pairs",', "8"), ('"step",', "3"), ('"slow",', "1.01"))


@pytest.mark.slow
def test_the_lesson_waits_and_an_axis_is_dragged(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "That is 12 · h / (32 · T)" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    assert "yours" not in str(lab.cells()[lab.find("context.pairs_table")])
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    for asked, given in ANSWERS:
        lab.commit(lab.find(asked), given)
        lab.wait_until_idle(200)
    for call in TABLES:
        assert "by your line" in str(lab.cells()[lab.find(call)]).lower()

    output = lab.output(lab.find("show.axes_on_links"))
    output.scroll_into_view_if_needed()
    told = output.locator(".ls-unseen")
    assert "pp between the nodes" in (told.text_content() or "")
    chip = output.get_by_role("button", name="tp: run it between the nodes")
    chip.focus()
    chip.press("Enter")
    assert "tp between the nodes" in (told.text_content() or "")
    output.get_by_role("button", name="dp: run it between the nodes").drag_to(
        output.get_by_role("group", name="between the nodes")
    )
    assert "dp between the nodes" in (told.text_content() or "")

    for call in ("axes_on_links", "attention_ring", "show.plan"):
        lab.look(lab.find(f"{call}("), f"hybrid-{call}")
    assert lab.errors() == {}
    lab.examine_figures("12_hybrid")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
