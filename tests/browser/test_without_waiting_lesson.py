"""Unit 06's lesson as a learner meets it: it waits, predictions open tables, and lines drive what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/06_without_waiting/lesson.ipynb"
LINES = {
    "meets": "def meets(step, steps, period):\n    return (step + 1) % period == 0 or step + 1 == steps",
    "left": "def left(total, sent):\n    return total - sent",
}
MAY_BEGIN = "def may_begin(step, others, bound):\n    return {}(done >= step - bound for done in others)"


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_its_runs(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "7: 793" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    asked, held = lab.find('"stale",'), lab.find("%%after stale\n")
    lab.commit(asked, "1")
    lab.wait_until_idle()
    lab.output(held).locator("svg").first.wait_for()
    assert "7: 793" in str(lab.cells()[held])

    assert "That asks for one of them" in lab.said_to("may_begin", MAY_BEGIN.format("any"))
    assert "Right" in lab.said_to("may_begin", MAY_BEGIN.format("all"))
    assert "By your line" in str(lab.cells()[lab.find("your_line.bounds_table")])
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    assert "residual thrown away" in str(lab.cells()[lab.find("your_line.feedback_table")])

    race = lab.find("show.race()")
    lab.output(race).locator("svg text", has_text="top-k").first.wait_for()
    lab.move_slider(lab.output(race))
    lab.look(race, "race")
    lab.look(lab.find("notes.notes_table"), "notes")
    assert lab.errors() == {}
    lab.examine_figures("06_without_waiting")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
