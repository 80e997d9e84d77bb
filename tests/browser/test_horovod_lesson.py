"""Unit 07's lesson as a learner meets it: it waits, its cells run Horovod, and lines decide in what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/07_horovod/lesson.ipynb"
LINES = {
    "ready_now": "def ready_now(counts, ranks):\n    return [name for name, n in counts.items() if n == ranks]",
    "together": "def together(a, b):\n    return a[0] < b[1] and b[0] < a[1]",
    "goes_on": "def goes_on(killed, every):\n    return killed // every * every",
}
SHOWN = {
    "your_line.negotiated_table": "left, stem",
    "your_line.operations_table": "12 all-reduces of tensors",
    "your_line.goes_on_table": "Killed by SIGKILL",
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

    assert "some rank has" in lab.said_to("ready_now", "def ready_now(counts, ranks):\n    return list(counts)")
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
