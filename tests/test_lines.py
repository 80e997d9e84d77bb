"""Which of the learner's lines is named. An event has the line that posted it; a rank that stands still stands on the
line where it waits. Processes named the line of the wait for both, and the virtual cluster the line of the post."""

import linecache
import re

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from lockstep import run
from lockstep.errors import Deadlock, RankRaised

WORLDS = ["processes", "dgx-a100"]


def named(where):
    """The text of a line as it is named: "test_lines.py, line 30, in waits_later"."""
    return linecache.getline(__file__, int(re.search(r"line (\d+)", where)[1])).strip()


def waits_later(x):
    peer = 1 - dist.get_rank()
    works = [dist.isend(x, peer), dist.irecv(x.clone(), peer)]  # posted
    for work in works:
        work.wait()
    work = dist.all_reduce(x, async_op=True)  # posted
    work.wait()


def reads_the_result_later(x):
    total = functional.all_reduce(x, "sum", dist.group.WORLD)  # posted
    return total + 1


@pytest.mark.parametrize("program", [waits_later, reads_the_result_later])
@pytest.mark.parametrize("on", WORLDS)
def test_an_event_has_the_line_that_posted_it(on, program):
    trace = run(program, torch.ones(4), ranks=2, on=on).trace
    assert trace.communication
    assert all(named(e.where).endswith("# posted") for e in trace.communication)


def waits_in_vain(x):
    if dist.get_rank() == 0:
        work = dist.irecv(x, 1)
        work.wait()  # stands


def reads_in_vain(x):
    if dist.get_rank() == 0:
        total = functional.all_reduce(x, "sum", dist.group.WORLD)
        print(total + 1)  # stands


@pytest.mark.parametrize("program", [waits_in_vain, reads_in_vain])
@pytest.mark.parametrize("on", WORLDS)
def test_a_rank_stands_where_it_waits(on, program):
    with pytest.raises(Deadlock) as caught:
        run(program, torch.ones(4), ranks=2, on=on)
    rank_state = caught.value.states[0]
    assert named(rank_state.where).endswith("# stands")
    assert rank_state.source.endswith("# stands")


@pytest.mark.parametrize("on", WORLDS)
def test_no_warning_of_torch_stands_for_a_line_of_the_learner(on):
    """The recorder asked a Work whether it had succeeded, and torch warned of that name, at the learner's next line."""

    def fn():
        works = [dist.all_reduce(torch.ones(4), async_op=True) for _ in range(4)]
        for work in works:
            while not work.is_completed():
                torch.ones(2) + 1
        return torch.ones(2) + 1

    assert run(fn, ranks=2, on=on).printed == ""


@pytest.mark.parametrize("on", WORLDS)
def test_an_error_in_a_callback_names_no_line_of_the_library(on):
    """torch writes the whole stack into the message, and Lockstep's own frames were in it."""

    def fn():
        future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
        future.then(lambda settled: 1 / 0).wait()

    with pytest.raises(RankRaised) as caught:
        run(fn, ranks=2, on=on)
    told = str(caught.value)
    assert "ZeroDivisionError: division by zero" in told
    assert "callbacks.py" not in told
    assert "/" not in told.replace("1 / 0", "")
    assert "test_lines.py, line" in told
