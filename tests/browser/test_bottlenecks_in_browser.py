"""Unit 13's lesson as a learner meets it: it waits, predictions open tables and figures, and lines drive what stands
below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/13_bottlenecks/lesson.ipynb"
HALF = "def kv_bytes(layers, kv_heads, head_size, tokens):\n    return 2 * layers * kv_heads * head_size * tokens"
LINES = {
    "workers_needed": "def workers_needed(samples_per_second, seconds_per_sample):\n"
    "    return -int(-samples_per_second * seconds_per_sample // 1)",
    "bound": "def bound(compute, memory, network):\n"
    "    return max((compute, 2, 'compute'), (memory, 1, 'memory'), (network, 0, 'network'))[2]",
    "kv_bytes": "def kv_bytes(layers, kv_heads, head_size, tokens):\n"
    "    return 4 * layers * kv_heads * head_size * tokens",
}
SHOWN = {"budget_table": "by your line", "steps_table": "by your line", "cache_table": "by your line"}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_its_tables(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "12.1 ms" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    assert "That is half" in lab.said_to("kv_bytes", HALF)
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    given = {'"workers",': "8", '"padding",': "40", '"copies",': "1.4", '"link"': "0.9", '"decode",': "256"}
    for asked, number in given.items():
        lab.commit(lab.find(asked), number)
        lab.wait_until_idle(120)
    for call in ("trace_file", "show.padding", "show.streams", "figure_of_inference", "goodput_chart", "service_chart"):
        lab.look(lab.find(f"{call}("), f"bottlenecks-{call}")
    assert lab.errors() == {}
    lab.examine_figures("13_bottlenecks")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
