"""Unit 08's lesson as a learner meets it: it waits, predictions open tables, and lines drive what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/08_fsdp/lesson.ipynb"
LINES = {
    "gather_order": "def gather_order(layers):\n    return [*range(layers), *range(layers - 2, -1, -1)]",
    "bytes_a_parameter": "def bytes_a_parameter(stage, ranks):\n"
    "    return sum(each / (ranks if stage >= first else 1) for each, first in ((2, 3), (2, 2), (12, 1)))",
}
MOST_WHOLE = "def most_whole(sizes, ahead):\n    return {}"
SHOWN = {"your_line.order_table": "by your line", "table.table_1": "41.25", "your_line.ahead_table": "fetched ahead"}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_its_runs(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "FSDP(model), as printed" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    asked, held = lab.find('"printed",'), lab.find("%%after printed\n")
    lab.commit(asked, "8.4")
    lab.wait_until_idle(120)
    lab.output(held).locator("table").first.wait_for()
    assert "FSDP(model), as printed" in str(lab.cells()[held])

    assert "Are they neighbours" in lab.said_to("most_whole", MOST_WHOLE.format("sum(sorted(sizes)[-ahead - 1 :])"))
    whole = "max(sum(sizes[i : i + ahead + 1]) for i in range(len(sizes)))"
    for name, line in {**LINES, "most_whole": MOST_WHOLE.format(whole)}.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    stacks = lab.find("show.memory_stacks()")
    lab.move_slider(lab.output(stacks))
    lab.look(stacks, "memory-stacks")
    lab.look(lab.find("show.memory_over_time"), "memory-over-time")
    assert lab.errors() == {}
    lab.examine_figures("08_fsdp")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
