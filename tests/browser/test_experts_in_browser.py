"""Unit 11's lesson as a learner meets it: it waits, predictions open tables, and lines drive what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/11_mixture_of_experts/lesson.ipynb"
LEAST = "def imbalance(rows):\n    return max(rows) / min(rows)"
LINES = {
    "top_k": "def top_k(scores, k):\n    return sorted(range(len(scores)), key=lambda e: (-scores[e], e))[:k]",
    "imbalance": "def imbalance(rows):\n    return max(rows) / (sum(rows) / len(rows))",
}
SHOWN = {
    "your_line.noise_table": "by your line",
    "loads.imbalance_table": "by your line",
}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_drive_its_runs(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "Common claims about mixtures of experts" not in str(lab.cells()), (
        "Run All gives away what a prediction asks for"
    )

    asked, held = lab.find('"llama",'), lab.find("%%after llama\ndisplay(published")
    lab.commit(asked, "6.3")
    lab.wait_until_idle(120)
    lab.output(held).locator("table").first.wait_for()
    assert "Common claims about mixtures of experts" in str(lab.cells()[held])

    assert "which may have none" in lab.said_to("imbalance", LEAST)
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    for asked, given in (('"ffn",', "4.7"), ('"collapse",', "50"), ('"skew",', "2")):
        lab.commit(lab.find(asked), given)
        lab.wait_until_idle(120)
    for call in ("flop_shares", "routed_text", "expert_shares", "show.compared", "active_and_total"):
        lab.look(lab.find(f"{call}("), f"experts-{call}")
    assert lab.errors() == {}
    lab.examine_figures("11_mixture_of_experts")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
