"""Unit 10's lesson as a learner meets it: it waits, predictions open what stands below, and lines fill the tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/10_tensor_parallel/lesson.ipynb"
PART = "def own_part(n, ranks, rank):\n    return {}"
EVEN = "rank * (n // ranks), (rank + 1) * (n // ranks)"
SPLIT = "rank * (n // ranks) + min(rank, n % ranks), (rank + 1) * (n // ranks) + min(rank + 1, n % ranks)"
LINES = {
    "all_reduced": "def all_reduced(examples, positions, width):\n    return examples * positions * width * 4",
    "kept_bytes": "def kept_bytes(ranks, sequence):\n    return 24 / ranks + (10 / ranks if sequence else 10)",
}
SHOWN = {
    "your_line.parts_table": "6 to 7",
    "your_line.block_table": "100,663,296",
    "your_line.kept_table": "1,325",
    "collectives_of_a_block.counted_table": "reduce-scatter",
}


@pytest.mark.slow
def test_the_lesson_waits_and_lines_fill_its_tables(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    closed = str([cell.get("outputs") for cell in lab.cells()])
    for told in ("201.3", "1,325 MB", "2 collectives", "Our reason", "norms on rank 0"):
        assert told not in closed, f"Run All gives away “{told}”"

    asked, held = lab.find('"across",'), lab.find("%%after across\n")
    lab.commit(asked, "12")
    lab.wait_until_idle(120)
    lab.output(held).locator("canvas").first.wait_for()
    assert "a node each: 24.8 ms, 58% waiting" in str(lab.cells()[held])

    assert "to nobody" in lab.said_to("own_part", PART.format(EVEN))
    for name, line in {**LINES, "own_part": PART.format(SPLIT)}.items():
        assert "Right" in lab.said_to(name, line)
    lab.wait_until_idle(120)
    for call, text in SHOWN.items():
        assert text in str(lab.cells()[lab.find(call)])

    lab.commit(lab.find('"lower",'), "0")
    lab.wait_until_idle(120)
    for call, name in (("lecture_notes.slides_table", "notes"), ("show.losses_of_twelve", "twelve")):
        lab.look(lab.find(call), f"tensor-{name}")
    cuts = lab.find("show.matrix_cuts()")
    lab.move_slider(lab.output(cuts))
    lab.look(cuts, "tensor-cuts")
    assert lab.errors() == {}
    lab.examine_figures("10_tensor_parallel")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)
