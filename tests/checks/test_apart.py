"""Values that came about by memory that ranks share are found out on separate processes, where they share none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockstep import checks
from lockstep.checks import verdict
from lockstep.checks.observation import Observation
from lockstep.checks.observe import Ungraded, observe

RING = checks.find("communication.ring_all_reduce")
EMPTY_RING = """
    members = dist.get_process_group_ranks(group)
    K, me = len(members), members.index(dist.get_rank())
    for step in range(2 * (K - 1)):
        out, into = (torch.zeros_like(tensor.reshape(-1).tensor_split(K)[(me - step - n) % K]) for n in (0, 1))
        work = [dist.P2POp(dist.isend, out, members[(me + 1) % K], group)] if out.numel() else []
        work += [dist.P2POp(dist.irecv, into, members[me - 1], group)] if into.numel() else []
        for one in dist.batch_isend_irecv(work) if work else []:
            one.wait()
"""
MODULES_GLOBAL = (
    """
import numpy  # a process has it once, and on the virtual cluster ranks are threads of one process
import torch
import torch.distributed as dist

def ring_all_reduce(tensor, group=None):
    board = vars(numpy).setdefault("board", {})
    board[dist.get_rank()] = tensor.clone()
    dist.barrier(group=group)
"""
    + EMPTY_RING
    + """
    total = sum(board[rank] for rank in members if rank in board)
    dist.barrier(group=group)
    return total
"""
)
OTHERS_FRAMES = (
    """
import sys
import torch
import torch.distributed as dist

def ring_all_reduce(tensor, group=None):
    own = tensor.clone()
    dist.barrier(group=group)
    found = {}
    for frame in sys._current_frames().values():
        while frame:
            if frame.f_code.co_name == "ring_all_reduce":
                found[id(frame.f_locals["own"])] = frame.f_locals["own"]
            frame = frame.f_back
"""
    + EMPTY_RING
    + """
    dist.barrier(group=group)
    return sum(found.values())
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("cheat", [MODULES_GLOBAL, OTHERS_FRAMES], ids=["a module's global", "others' frames"])
def test_values_that_were_never_sent_are_found_out(tmp_path: Path, cheat: str) -> None:
    """Right values, beside the messages of a ring that carry nothing: full points, also from a grader."""
    (tmp_path / "answer.py").write_text(cheat)
    assert checks.check_file(RING.id, tmp_path / "answer.py", keep=False).passed
    score = checks.check_file(RING.id, tmp_path / "answer.py", keep=False, apart=True)
    (told,) = score.findings
    assert told.misconception == "needs-shared-memory"
    assert told.message.startswith("On the virtual cluster the values are right. On separate processes, which share no")
    assert (score.verdict, score.points) == ("wrong", 0)


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Where answers are observed, under autograde, on a machine that has no processes to give."""
    asked: list[str | None] = []

    def observed(exercise: Any, fn: Callable[..., Any], on: str | None) -> Observation:
        asked.append(on)
        if on == "processes":
            raise Ungraded("This machine has no loopback.")
        return observe(exercise, fn, on)

    monkeypatch.setattr(verdict, "observe", observed)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    return asked


@pytest.mark.slow
def test_under_autograde_what_passes_is_tried_apart_and_costs_nothing_where_that_cannot_be(worlds: Any) -> None:
    score = checks.check_file(RING.id, RING.right / "list_of_chunks.py", keep=False)
    assert worlds == [None, "processes"]
    assert (score.verdict, score.points) == ("ungraded", 0)
    assert "no loopback" in score.text()


def test_a_secret_seed_draws_the_world_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All six took longer than all that the virtual cluster did. Which two are tried nobody knows beforehand."""
    drawn = set()
    for number in range(40):
        monkeypatch.setenv("LOCKSTEP_SEED", f"secret {number}")
        sizes = verdict._sizes_apart(RING)
        assert len(sizes) == verdict.APART
        assert sizes == verdict._sizes_apart(RING)
        drawn |= set(sizes)
    assert drawn == {size for size in RING.worlds if size > 1}
    assert verdict._sizes_apart(replace(RING, worlds=(1, 4))) == (4,)
    assert verdict._sizes_apart(replace(RING, worlds=(1,))) == ()


@pytest.mark.slow
def test_only_those_sizes_are_run_there(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = []

    def observed(exercise: Any, fn: Callable[..., Any], on: str | None) -> Observation:
        found = observe(exercise, fn, on)
        if on == "processes":
            apart.append({seen.case.ranks for seen in found})
        return found

    monkeypatch.setattr(verdict, "observe", observed)
    answer = RING.right / "list_of_chunks.py"
    assert checks.check_file(RING.id, answer, keep=False, apart=True).passed
    assert apart == [set(verdict._sizes_apart(RING))]


@pytest.mark.slow
def test_what_is_wrong_or_sends_nothing_is_not_tried_apart(worlds: Any) -> None:
    assert checks.check_file(RING.id, RING.wrong / "average.py", keep=False).verdict == "wrong"
    amdahl = checks.find("why_parallel.amdahl")
    assert checks.check_file(amdahl.id, next(amdahl.right.glob("*.py")), keep=False).passed
    assert worlds == [None, None]
