"""Unit 02's lesson as a learner meets it: it waits, a prediction opens its figures, and lines drive what is below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/02_cpu/lesson.ipynb"
LINES = {
    "accumulators_needed": "def accumulators_needed(latency, ports):\n    return latency * ports",
    "line_of": "def line_of(i, j, columns):\n    return (i * columns + j) // 8",
    "first_element": "def first_element(w, n, workers):\n    return w * n // workers",
}
SHOWN = {
    "show.additions": "8 accumulators: 15 cycles",
    "your_line.walks_table": "40 x 40 numbers and 32 lines",
    "your_line.pieces_table": "10 numbers, 4 workers",
}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_what_stands_below(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "4 accumulators, in order" not in str(lab.cells()), "Run All gives away what a prediction asks for"
    assert not any(text in str(lab.cells()) for text in SHOWN.values())

    asked, held = lab.find('"cpu-ladder",'), lab.find("%%after cpu-ladder\n")
    lab.commit(asked, "50")
    lab.wait_until_idle(120)
    assert "4 accumulators, in order" in str(lab.cells()[held])

    said = lab.said_to("accumulators_needed", "def accumulators_needed(latency, ports):\n    return latency")
    assert "fills one port" in said
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    lab.commit(lab.find('"cpu-memory",'), "100")
    lab.wait_until_idle(120)
    for call, name in (("show.bars(", "rungs"), ("show.additions(", "additions"), ("distances_table(", "distances")):
        lab.look(lab.find(call), f"cpu-{name}")
    assert lab.errors() == {}
    lab.examine_figures("02_cpu_lesson")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
