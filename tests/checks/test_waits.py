"""A transfer that nobody waited for is told, on every world that can tell; and never where somebody did wait."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from lockstep import checks, run
from lockstep.checks.case import Case
from lockstep.checks.observation import Failure, Seen
from lockstep.checks.unfinished_transfers import came_too_early, changed_too_early, never_waited, used_too_early
from lockstep.events import Event, Trace


def seen(event: Event, world: str = "virtual", failure: Failure | None = None) -> Seen:
    return Seen(Case(2, 0), trace=Trace.of([event], 2, world), failure=failure)


def test_rank_call_and_line_are_named() -> None:
    told = never_waited(seen(Event(1, "recv", 0, 1, 8, 0, where="Cell In[3], line 4", awaited=False)))
    assert "With 2 ranks, rank 1 never waits for its irecv (Cell In[3], line 4)." in told
    assert "wrong" not in told
    assert "rank 0 never waits for its all_reduce with async_op=True" in never_waited(
        seen(Event(0, "all_reduce", 0, 1, 8, awaited=False))
    )


def test_a_receive_explains_wrong_values_better_than_a_send() -> None:
    send, recv = Event(0, "send", 0, 1, 8, 1, awaited=False), Event(1, "recv", 0, 1, 8, 0, awaited=False)
    both = Seen(Case(2, 0), trace=Trace.of([send, recv], 2, "virtual"))
    assert "irecv" in never_waited(both, wrong=True)
    assert "is likely why" in never_waited(both, wrong=True)
    assert "may be why" in never_waited(seen(send), wrong=True)


def test_what_nobody_waited_for_says_more_than_a_known_answer_with_the_same_values() -> None:
    """Who read an all-reduce that was under way was taken for one who compares with one end alone."""
    assert came_too_early(seen(Event(0, "all_reduce", 0, 1, 8, awaited=False)))
    assert not came_too_early(seen(Event(0, "send", 0, 1, 8, 1, awaited=False)))
    assert not came_too_early(seen(Event(0, "all_reduce", 0, 1, 8)))


def test_the_line_that_used_a_tensor_too_early_is_named() -> None:
    early = Event(0, "all_reduce", 0, 2, 8, where="ring.py, line 3", early="ring.py, line 4")
    told = used_too_early(seen(early))
    assert told.startswith(
        "With 2 ranks, rank 0 uses the tensor of its all_reduce with async_op=True (ring.py, line 3)"
    )
    assert "before wait() has returned: at ring.py, line 4." in told
    assert came_too_early(seen(early))
    assert used_too_early(seen(early._replace(changed=True))) == ""
    assert ", at ring.py, line 4, before wait()" in changed_too_early(seen(early._replace(changed=True)))


def test_nothing_is_told_of_what_was_waited_for_or_never_came_to_it() -> None:
    assert never_waited(seen(Event(0, "send", 0, 1, 8, 1))) == ""
    forgotten = Event(0, "send", 0, 1, 8, 1, awaited=False)
    assert never_waited(seen(forgotten, failure=Failure("Deadlock", "..."))) == ""


@pytest.mark.slow
def test_on_processes_a_collective_may_have_been_waited_for_unseen() -> None:
    """There the Future of a Work is waited for in C++."""

    def by_future(gradient, x, weights, group=None):
        future = dist.all_reduce(gradient, group=group, async_op=True).get_future()
        product = x @ weights
        future.wait()
        return gradient, product

    for world in ("dgx-a100", "processes"):
        assert checks.check("communication.overlapped_step", by_future, on=world).passed, world


@pytest.mark.slow
def test_values_that_are_right_by_luck_cost_a_quarter() -> None:
    def careless(tensor, group=None):
        rank, K = dist.get_rank(group), dist.get_world_size(group)
        if K == 1:
            return tensor
        received = torch.empty_like(tensor)
        dist.isend(tensor, group=group, group_dst=(rank + 1) % K)
        dist.recv(received, group=group, group_src=(rank - 1) % K)
        return received

    score = checks.check("communication.mend_ring_of_sends", careless)
    assert [(f.misconception, f.points) for f in score.findings] == [("never-waited", 0.5)]
    assert score.points == 1.5
    # On gloo luck may run out: a transfer that nobody waits for need not have left when its rank returns.
    by_processes = checks.check("communication.mend_ring_of_sends", careless, on="processes")
    assert not by_processes.passed
    assert by_processes.points <= 1.5


def adds_too_early(tensor, group=None):
    """An all-reduce round the ring of whole tensors that adds into what it still sends."""
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    passing, received = tensor.clone(), torch.empty_like(tensor)
    for _ in range(K - 1):
        sending = dist.isend(passing, group=group, group_dst=(rank + 1) % K)
        dist.recv(received, group=group, group_src=(rank - 1) % K)
        passing.copy_(received)  # before wait()
        sending.wait()
        tensor += received
    return tensor


@pytest.mark.slow
def test_a_tensor_that_changes_on_its_way_is_told_though_it_had_left_already() -> None:
    """`isend(x); recv(y); x += y; wait()` was right on the virtual cluster and wrong on processes."""
    score = checks.check("communication.ring_all_reduce", adds_too_early, on="dgx-a100")
    told = [f for f in score.findings if f.misconception == "changes-what-it-sends"]
    assert len(told) == 1
    assert "changes the tensor of its isend" in told[0].message
    assert "before wait() has returned" in told[0].message


def adds_before_the_wait(tensor, group=None):
    """An all-reduce round the ring of whole tensors that adds what has not arrived yet."""
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    passing = tensor.clone()
    for _ in range(K - 1):
        received = torch.empty_like(tensor)
        sending = dist.isend(passing, group=group, group_dst=(rank + 1) % K)
        receiving = dist.irecv(received, group=group, group_src=(rank - 1) % K)
        tensor += received
        sending.wait(), receiving.wait()
        passing = received
    return tensor


def test_a_ring_that_adds_before_the_wait_is_told_its_line() -> None:
    """It was told which ranks were missing."""
    first = checks.check("communication.ring_all_reduce", adds_before_the_wait, on="dgx-a100").findings[0]
    assert first.misconception == "reads-before-wait"
    line = adds_before_the_wait.__code__.co_firstlineno + 8
    assert f"wait() has returned: at test_waits.py, line {line}, in adds_before_the_wait." in first.message


def test_a_tensor_that_changes_after_the_wait_is_no_fault_nor_one_that_is_nan() -> None:
    def patient(x):
        peer = 1 - dist.get_rank()
        received = torch.empty_like(x)
        work = dist.isend(x, peer)
        dist.recv(received, peer)
        work.wait()
        return x.add_(received)

    trace = run(patient, torch.tensor([1.0, float("nan")]), ranks=2, on="dgx-a100").trace
    assert not any(e.changed for e in trace)
