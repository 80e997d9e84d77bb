"""Waits that give up. Here they never did: ``work.wait(timeout)`` waited on, and what torch tells a program that may
catch it, "Rank 1 failed to pass monitoredBarrier in 2000 ms", was a deadlock, which no program can catch. The sentences
and times are those of four processes with torch 2.13 and gloo; there they take real seconds."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from functools import partial

import pytest
import torch
import torch.distributed as dist
from both_worlds import virtual

from lockstep import run
from lockstep.errors import Deadlock, RankRaised, Unmatched

TWO = timedelta(seconds=2)


def told(act):
    """What ``act()`` raises, in its first line, or None; and how long it takes."""
    begin, said = time.perf_counter(), None
    try:
        act()
    except RuntimeError as error:
        said = str(error).splitlines()[0]
    return said, round(time.perf_counter() - begin, 2)


def values(program, ranks=4):
    return virtual(program, ranks=ranks).values


REACHED = (
    "Rank 3 successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. "
    "Please check rank 0 logs for faulty rank."
)


@pytest.mark.parametrize("all_ranks", [False, True])
def test_a_monitored_barrier_names_who_is_missing(all_ranks):
    def fn():
        if dist.get_rank() in (1, 2):
            return time.sleep(5)
        return told(lambda: dist.monitored_barrier(timeout=TWO, wait_all_ranks=all_ranks))

    missing = "Ranks 1, 2" if all_ranks else "Rank 1"
    said = f"[Rank 0]: {missing} failed to pass monitoredBarrier in 2000 ms"
    assert values(fn) == [(said, 2.0), None, None, (REACHED, 2.0)]


def test_only_rank_0_loses_patience_in_a_monitored_barrier():
    def fn():
        if dist.get_rank() == 0:
            time.sleep(5)
        return told(lambda: dist.monitored_barrier(timeout=TWO))

    assert values(fn) == [(None, 0.0), (None, 5.0), (None, 5.0), (None, 5.0)]


def test_who_comes_to_a_monitored_barrier_too_late_fails_at_once():
    def fn():
        time.sleep(dist.get_rank())
        return told(lambda: dist.monitored_barrier(timeout=timedelta(seconds=2.5)))

    first, second, third, fourth = values(fn)
    assert first == ("[Rank 0]: Rank 3 failed to pass monitoredBarrier in 2500 ms", 2.5)
    assert second == (REACHED.replace("3", "1"), 1.5)
    assert third == (REACHED.replace("3", "2"), 0.5)
    assert fourth == ("Connection closed by peer: rank 0 has given up waiting for rank 3 before", 0.0)


def test_a_monitored_barrier_without_any_time():
    def fn():
        return dist.get_rank() or told(lambda: dist.group.WORLD.monitored_barrier(timedelta(seconds=0)))

    assert values(fn, 2)[0] == ("Rank 0 timed out in monitoredBarrier after 0 ms.", 0.0)


def test_a_receive_gives_up_and_closes_the_pair():
    """What rank 1 sends afterwards fails, on both ranks; the pair of another group is a connection of its own."""

    def fn():
        other = dist.new_group([0, 1])
        x, me = torch.zeros(1), dist.get_rank()
        if me == 0:
            work = dist.irecv(x, 1)
            found = [
                told(lambda: work.wait(TWO)),
                work.is_completed(),
                work.is_success(),
                told(lambda: dist.recv(x, 1)),
            ]
            dist.recv(x, 2)
            dist.recv(x, 1, group=other)
            return *found, x.item()
        time.sleep(5)
        if me == 1:
            found = told(lambda: dist.send(torch.ones(1), 0))
            dist.send(torch.ones(1) * 2, 0, group=other)
            return found
        return dist.send(torch.ones(1), 0) if me == 2 else None

    first, second, *_ = values(fn)
    closed = "Application timeout caused pair closure: rank 0 has given up waiting for rank 1 before"
    gave_up = ("[Rank 0] Timed out waiting 2000ms for recv operation to complete", 2.0)
    assert first == (gave_up, True, False, (closed, 0.0), 2.0)
    assert second == ("Connection closed by peer: rank 0 has given up waiting for rank 1 before", 0.0)


def test_a_send_gives_up():
    def fn():
        if dist.get_rank() == 0:
            return told(lambda: dist.isend(torch.zeros(3), 1).wait(timedelta(milliseconds=300)))
        return time.sleep(5)

    assert values(fn)[0] == ("[Rank 0] Timed out waiting 300ms for send operation to complete", 0.3)


def test_a_collective_goes_on_when_a_wait_for_it_has_given_up():
    def fn():
        x = torch.ones(1)
        if dist.get_rank() == 0:
            work = dist.all_reduce(x, async_op=True)
            found = told(lambda: work.wait(TWO))
            work.wait()
            return *found, round(time.perf_counter(), 2), x.item()
        time.sleep(4)
        dist.all_reduce(x)
        return x.item()

    assert values(fn) == [("Operation timed out!", 2.0, 4.0, 4.0), 4.0, 4.0, 4.0]


def test_a_wait_that_ends_in_time_says_nothing():
    def fn():
        me, x, found = dist.get_rank(), torch.ones(1), []
        for wait in (3, 1):
            time.sleep(2 * me)
            work = dist.all_reduce(x, async_op=True)
            found.append(told(partial(work.wait, timedelta(seconds=wait)))[0])
            dist.barrier()
        return found

    assert values(fn, 2) == [[None, "Operation timed out!"], [None, None]]


def test_nobody_need_come_any_more():
    """All others have ended: what would be a deadlock is a wait that ends."""

    def fn():
        return dist.get_rank() or told(lambda: dist.all_reduce(torch.ones(1), async_op=True).wait(TWO))

    assert values(fn, 3) == [("Operation timed out!", 2.0), 1, 2]


@pytest.mark.parametrize("how", ["group", "argument"])
def test_a_group_gives_up_by_its_own_timeout(how):
    def fn():
        group = dist.new_group(timeout=TWO if how == "group" else timedelta(seconds=300))
        own = {} if how == "group" else {"timeout": TWO}
        if dist.get_rank():
            return time.sleep(5)
        return told(lambda: dist.barrier(group, **own)), told(lambda: dist.recv(torch.ones(1), 1, group=group))

    closed = "Application timeout caused pair closure: rank 0 has given up waiting for rank 1 before"
    assert values(fn)[0] == (("[Rank 0] Timed out waiting 2000ms for recv operation to complete", 2.0), (closed, 0.0))


def gives_up(how):
    """Rank 0 waits for a rank that has ended."""
    group, x = dist.new_group(timeout=TWO), torch.ones(1)
    if dist.get_rank():
        return None
    acts = {
        "message": lambda: dist.irecv(x, 1).wait(TWO),
        "collective": lambda: dist.all_reduce(x, async_op=True).wait(TWO),
        "group": lambda: dist.all_reduce(x, group=group),
        "monitored": lambda: dist.monitored_barrier(timeout=TWO),
    }
    said, _ = told(acts[how])
    return said.rpartition("] ")[2].removeprefix("[Rank 0]: ")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["message", "collective", "group", "monitored"])
def test_processes_give_up_alike(how):
    """There it was a deadlock after a second, whatever timeout the program had asked for."""
    real, simulated = (run(gives_up, how, ranks=2, on=on).values for on in ("processes", "dgx-a100"))
    assert real == simulated
    assert re.search("imed out|failed to pass", real[0])


@pytest.mark.slow
@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_who_has_given_up_may_still_be_in_a_deadlock(on):
    def fn():
        other = dist.new_group()
        if dist.get_rank() == 0:
            told(lambda: dist.irecv(torch.ones(1), 1).wait(TWO))
            dist.recv(torch.ones(1), 1, group=other)

    with pytest.raises(Deadlock, match="rank 0 waits for rank 1, whose function has already returned"):
        run(fn, ranks=2, on=on)


def test_what_nobody_catches_is_told_with_the_states_of_all():
    def fn():
        group = dist.new_group()
        if dist.get_rank() == 0:
            dist.irecv(torch.ones(1), 1).wait(TWO)
        else:
            dist.barrier(group)

    with pytest.raises(RankRaised, match=r"RuntimeError: \[Rank 0\] Timed out waiting 2000ms") as caught:
        virtual(fn, ranks=2)
    assert [s.state for s in caught.value.states] == ["raised", "waiting"]


def test_without_a_timeout_of_its_own_it_is_a_deadlock():
    """torch's defaults, 10 and 30 minutes, are no reason to hide who waits for whom."""

    def fn():
        group = dist.new_group(timeout=timedelta(minutes=30))
        if dist.get_rank() == 0:
            dist.all_reduce(torch.ones(1), group=group)

    with pytest.raises(Deadlock, match="rank 0 waits for rank 1, whose function has already returned"):
        virtual(fn, ranks=2)


def test_what_nobody_gave_up_is_unmatched():
    def fn():
        if dist.get_rank() == 0:
            work = dist.all_reduce(torch.ones(1), async_op=True)
            if told(lambda: work.wait(TWO))[0]:
                dist.isend(torch.ones(1), 1)

    with pytest.raises(Unmatched, match="sent a message that nobody received"):
        virtual(fn, ranks=2)


@pytest.mark.parametrize("rules", ["mpi", "nccl"])
def test_other_rules_give_up_as_well(rules):
    def fn():
        me, x = dist.get_rank(), torch.ones(1)
        if me == 0:
            found = told(lambda: dist.irecv(x, 1).wait(TWO))
            dist.recv(x, 2)
            return found
        return dist.send(x, 0) if me == 2 else time.sleep(5)

    said = "[Rank 0] Timed out waiting 2000ms for recv operation to complete"
    assert virtual(fn, ranks=3, rules=rules).values[0] == (said, 2.0)
