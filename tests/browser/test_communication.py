"""Unit 04 as a learner meets it: run the lesson, predict, write a line, get a lab wrong, hang it, and go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Lab, examine_offline
from playwright.sync_api import Browser

LESSON = "course/04_communication/lesson.ipynb"
LAB = "labs/04_communication/lab.ipynb"

WHOLE_TENSOR = """
def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, passing = tensor.contiguous().clone(), tensor.contiguous().clone()
    for _ in range(K - 1):
        incoming = torch.empty_like(passing)
        sending = dist.isend(passing, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        sending.wait()
        total += incoming
        passing = incoming
    return total
"""
HANGS = """
def ring_all_reduce(tensor, group=None):
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    incoming = torch.empty_like(tensor)
    for _ in range(K - 1):
        dist.send(tensor, group=group, group_dst=(rank + 1) % K)
        dist.recv(incoming, group=group, group_src=(rank - 1) % K)
        tensor += incoming
    return tensor
"""
MISSPELT = "def ring_allreduce(x):\n    return x\n\nring_all_reduce = ring_allreduce\n"


@pytest.mark.slow
def test_the_lesson_waits_for_the_learner_and_its_figures_move(lab: Lab, course: Path, browser: Browser) -> None:
    lab.open(LESSON)
    lab.run_all(timeout=280)
    assert lab.errors() == {}
    lab.screenshot("lesson-closed")
    assert "196.9" not in str(lab.cells()), "Run All gives away what a prediction asks for"

    ring = lab.find("show.ring(ranks=4)")
    picture = lab.output(ring).locator("svg").first
    before = picture.inner_html()
    assert lab.move_slider(lab.output(ring), steps=2) == 2
    lab.page.wait_for_timeout(500)
    assert lab.output(ring).locator("svg").first.inner_html() != before
    lab.screenshot("lesson-ring")

    asked, held = lab.find('"ring-bytes",'), lab.find("%%after ring-bytes\n")
    lab.commit(asked, "about ten")
    assert "one number" in lab.output(asked).inner_text()
    lab.commit(asked, "100")
    lab.wait_until_idle()
    lab.output(held).locator("svg text", has_text="196.9").first.wait_for()
    assert lab.output(asked).locator("input").is_disabled()
    lab.look(held, "lesson-ring-bytes")

    turn, mine = lab.find("def chunk_to_send"), lab.find("def my_ring")
    lab.write(turn, "def chunk_to_send(rank, step, K):\n    return (rank + step) % K\n\n\nyour_turn(chunk_to_send)")
    lab.run(turn)
    lab.output(turn).get_by_role("status").get_by_text("Your chunks walk the wrong way").wait_for()
    lab.write(turn, "def chunk_to_send(rank, step, K):\n    return (rank - step) % K\n\n\nyour_turn(chunk_to_send)")
    lab.run(turn)
    lab.output(turn).get_by_role("status").get_by_text("Right. Below, your line drives the ring.").wait_for()
    lab.wait_until_idle()
    lab.output(mine).locator("svg").first.wait_for()
    lab.look(mine, "lesson-my-ring")

    circle = lab.output(lab.find("def ring_of_sends"))
    circle.get_by_text("rank 0 waits for rank 1").first.wait_for()
    told = circle.inner_text()
    assert "rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank 0" in told
    assert "line 4, in ring_of_sends" in told
    for name, text in {"timeline": "def push_and_pull", "deadlock": "def ring_of_sends", "hidden": "def step"}.items():
        lab.look(lab.find(text), f"lesson-{name}")
    assert lab.errors() == {}
    lab.examine_figures("04_communication")
    lab.examine_without_its_kernel(LESSON)
    examine_offline(browser, course / LESSON)


def answer(lab: Lab, source: str) -> str:
    """Write this into the ring's cell, run it and its check: what a learner reads below."""
    mine, check = lab.find("def ring_all_reduce"), lab.find('check("communication.ring_all_reduce"')
    lab.write(mine, source)
    lab.run(mine)
    lab.run(check, timeout=90)
    assert lab.errors() == {}
    lab.output(check)
    lab.page.wait_for_timeout(700)
    return lab.output(check).inner_text()


@pytest.mark.slow
def test_wrong_answers_are_told_what_is_wrong_with_the_learners_own_timeline(prepared: Lab) -> None:
    told = answer(prepared, WHOLE_TENSOR)
    prepared.screenshot("lab-whole-tensor")
    assert "whole tensor" in told
    check = prepared.find('check("communication.ring_all_reduce"')
    assert prepared.output(check).locator("svg").count() > 0
    data = prepared.cells()[check]["outputs"][-1]["data"]
    assert 0 < float("".join(data["text/plain"])) < 5

    told = answer(prepared, HANGS)
    prepared.screenshot("lab-deadlock")
    assert "Deadlock" in told or "waits for" in told
    assert "Cell In[" in told

    told = answer(prepared, MISSPELT)
    prepared.screenshot("lab-signature")
    assert "group" in told


def test_an_endless_loop_ends_and_the_next_cell_works(prepared: Lab) -> None:
    """A deadlock and an interrupt in cells of one's own; the kernel lives on."""
    scratch = prepared.find("def hello()")
    prepared.write(
        scratch,
        "def circle():\n    dist.recv(torch.zeros(1), src=(dist.get_rank() + 1) % 3)\n\nrun(circle, ranks=3)",
    )
    prepared.run(scratch, timeout=90)
    assert "Deadlock" in prepared.errors()[scratch]
    prepared.output(scratch)
    prepared.screenshot("lab-deadlock-in-a-cell")
    shown = prepared.output(scratch).inner_text()
    assert "/lockstep/" not in shown
    assert "line 2, in circle" in shown
    prepared.write(scratch, "print(run(lambda: dist.get_rank(), ranks=2).values)")
    prepared.run(scratch)
    assert "[0, 1]" in prepared.output(scratch).inner_text()
