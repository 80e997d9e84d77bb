"""Unit 05's lesson as a learner meets it: it waits, a prediction opens a table, and lines drive what stands below."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/05_all_reduce_sgd/lesson.ipynb"
LINES = {
    "share": "def share(order, rank, ranks):\n    return order[rank::ranks]",
    "enough": "def enough(seconds, flops, rate):\n    return max(1, math.ceil(seconds * rate / flops))",
    "warm_up": "def warm_up(t, steps, rate, K):\n    return rate * (1 + (K - 1) * min(t / steps, 1))",
}


@pytest.mark.slow
def test_the_lesson_waits_and_its_figures_can_be_read(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    assert "204.8" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    asked, held = lab.find('"resnet-added",'), lab.find("%%after resnet-added\n")
    lab.commit(asked, "50")
    lab.wait_until_idle()
    lab.output(held).locator("svg text", has_text="204.8").first.wait_for()
    lab.output(held).get_by_text("NVLink joins the 8 GPUs of a server").wait_for()
    lab.look(held, "sgd-resnet")

    with_the_sum = "def update(w, G, M, alpha):\n    return w - alpha * G"
    assert "That is a step with the sum." in lab.said_to("update", with_the_sum)
    assert "Right" in lab.said_to("update", with_the_sum.replace("alpha *", "alpha / M *"))
    assert "8 ranks: 1 times one rank's step, and 8 with the sum" in str(lab.cells()[lab.find("def first_step")])
    for name, line in LINES.items():
        assert "Right" in lab.said_to(name, line)
    for name, text in {"buckets": "class Trained", "sweep": "show.batch_and_rate"}.items():
        lab.output(lab.find(text)).locator("svg").first.wait_for()
        lab.look(lab.find(text), f"sgd-{name}")
    assert lab.errors() == {}
    lab.examine_figures("05_all_reduce_sgd")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
