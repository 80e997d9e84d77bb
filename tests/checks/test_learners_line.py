"""Which of the learner's lines a check names: that of the exercise's own function, and in brackets the helper's.

A deadlock in unit 09's lab named the line of a helper, `send`, for all four ranks, and not which of the learner's calls
had led there."""

from __future__ import annotations

import linecache

import pytest
import torch
import torch.distributed as dist

from lockstep import check, run
from lockstep.checks import rank_program
from lockstep.errors import Deadlock
from lockstep.places import Helper, Place, of_stack


def received(like, source):
    got = torch.empty_like(like)
    dist.recv(got, source)  # the helper
    return got


def ring_all_reduce(tensor, group=None):
    rank, size = dist.get_rank(), dist.get_world_size()
    if size == 1:
        return tensor
    if rank == 0:
        return received(tensor, size - 1)  # rank 0
    return received(tensor, rank - 1)  # another rank


def line(marked: str) -> int:
    with open(__file__, encoding="utf-8") as text:
        return next(number for number, told in enumerate(text, 1) if told.rstrip().endswith(f"# {marked}"))


@pytest.mark.parametrize("on", ["virtual", pytest.param("processes", marks=pytest.mark.slow)])
def test_a_deadlock_names_the_line_of_the_exercises_function_first(on, monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    score = check("communication.ring_all_reduce", ring_all_reduce, **({} if on == "virtual" else {"on": on}))
    told = " ".join(score.text().split())
    helper = f"(in received, line {line('the helper')})"
    for marked in ("rank 0", "another rank"):
        source = " ".join(linecache.getline(__file__, line(marked)).split())
        assert f"test_learners_line.py, line {line(marked)}, in ring_all_reduce {helper}: {source}" in told
    if on == "virtual":
        assert f"line {line('rank 0')}, in ring_all_reduce" in "".join(s.where for s in score.states)


def test_in_any_other_run_the_innermost_line_comes_first():
    with pytest.raises(Deadlock) as caught:
        run(ring_all_reduce, torch.ones(4), ranks=2, on="dgx-a100")
    assert {s.where for s in caught.value.states} == {f"test_learners_line.py, line {line('the helper')}, in received"}


def test_a_stack_of_another_process_is_read_in_the_same_way():
    mine = [(linecache.__file__, 5, "recv"), ("/home/lab.py", 3, "received"), ("/home/lab.py", 9, "mine")]
    assert str(of_stack(mine)) == "lab.py, line 3, in received"
    assert str(of_stack([*mine, (rank_program.__file__, 8, "play")])) == "lab.py, line 9, in mine (in received, line 3)"
    assert of_stack([*mine, (rank_program.__file__, 8, "play")]).innermost == Helper("lab.py", 3, "received")


def test_a_place_in_words():
    helper = Helper("Cell In[3]", 2, "send")
    assert str(Place("Cell In[3]", 7, "ring", "", helper)) == "Cell In[3], line 7, in ring (in send, line 2)"
    assert (
        str(Place("Cell In[6]", 7, "ring", "", helper)) == "Cell In[6], line 7, in ring (in send, Cell In[3], line 2)"
    )
    same = Place("Cell In[6]", 7, "ring", "", Helper("Cell In[6]", 7, "<listcomp>"))
    assert str(same) == "Cell In[6], line 7, in ring"
