"""Unit 07's lesson as a learner meets it: it waits, its cells run Horovod, and lines decide in what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/07_horovod/lesson.ipynb"
LINES = {
    "goes_on": "def goes_on(killed, every):\n    return killed // every * every",
    "factor": "def factor(steps, me):\n    return (steps[me] == max(steps)) / steps.count(max(steps))",
}
SHOWN = {
    "your_line.goes_on_table": "Killed by SIGKILL",
    "recovery.quorums_table": "0.333, 0.333, 0, 0.333",
}


@pytest.mark.slow
@pytest.mark.horovod
def test_the_lesson_waits_and_lines_decide(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "One part left out" not in str(lab.cells()), "Run All gives away what a prediction asks for"
    assert not any(text in str(lab.cells()) for text in SHOWN.values())

    asked, held = lab.find('"alike",'), lab.find("%%after alike\n")
    lab.commit(asked, "5")
    lab.wait_until_idle(120)
    lab.output(held).locator("table").first.wait_for()
    assert "One part left out" in str(lab.cells()[held])

    assert "all of the quorum" in lab.said_to("factor", "def factor(steps, me):\n    return 1 / len(steps)")
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    lab.look(lab.find("show.horovod"), "horovod-timeline")
    assert lab.errors() == {}
    lab.examine_figures("07_horovod")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
