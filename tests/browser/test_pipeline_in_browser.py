"""Unit 09's lesson as a learner meets it: it waits, predictions open tables, and lines drive what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/09_pipeline/lesson.ipynb"
BUBBLE = "def bubble_share(p, m):\n    return {}"
LINES = {
    "kept": "def kept(s, p, m):\n    return p - s if p - s < m else m",
    "delay": "def delay(s, p):\n    return p - 1 - s",
}
SHOWN = {
    "your_line.bubble_table": "30.4%",
    "your_line.kept_table": "1F1B by your line",
    "your_line.delay_table": "versions kept",
}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_its_runs(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "pipeline inside, data across" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    asked, held = lab.find('"gradients",'), lab.find("%%after gradients\n")
    lab.commit(asked, "17")
    lab.wait_until_idle(120)
    lab.output(held).locator("table").first.wait_for()
    assert "pipeline inside, data across" in str(lab.cells()[held])

    assert "divided by working time" in lab.said_to("bubble_share", BUBBLE.format("(p - 1) / m"))
    for name, line in {**LINES, "bubble_share": BUBBLE.format("1 - m / (m + p - 1)")}.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    lab.commit(lab.find('"stage-0",'), "64")
    lab.wait_until_idle(60)
    schedules = lab.find('show.pipeline("one_f_one_b", among=("one_f_one_b", "interleaved"')
    lab.move_slider(lab.output(schedules))
    for call, name in (("show.old_weights()", "old-weights"), ("show.balance(", "balance"), ("show.board(", "board")):
        lab.look(lab.find(call), name)
    lab.look(schedules, "schedules")
    assert lab.errors() == {}
    lab.examine_figures("09_pipeline")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
