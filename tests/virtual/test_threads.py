"""Threads that a rank starts were nobody's on the virtual cluster: rank 3's read RANK=0, its prints bore no rank, its
groups were not initialised. And where one communicated, it took the baton from under another rank: "release unlocked
lock", or a checkpoint that only rank 0 wrote."""

import os
import random
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import torch
import torch.distributed as dist
from both_worlds import both, virtual

from lockstep import run
from lockstep.errors import RankRaised


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.slow
def test_a_thread_knows_its_rank_and_its_groups():
    def fn():
        pair = dist.new_group([0, 2])
        return in_thread(lambda: (os.environ["RANK"], dist.get_rank(), dist.get_world_size(), dist.get_rank(pair)))

    assert both(fn, ranks=3) == [("0", 0, 3, 0), ("1", 1, 3, -1), ("2", 2, 3, 1)]


@pytest.mark.slow
def test_a_thread_draws_what_the_rank_would_have_drawn():
    def fn():
        drawn = in_thread(lambda: (random.random(), float(numpy.random.rand()), float(torch.rand(()))))
        return drawn, random.random(), float(torch.rand(()))

    both(fn, ranks=3)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_prints_of_a_thread_are_tagged(on):
    result = run(lambda: in_thread(lambda: print("hello")), ranks=2, on=on)
    assert sorted(result.printed.splitlines()) == ["[rank 0] hello", "[rank 1] hello"]


@pytest.mark.slow
def test_what_a_thread_makes_is_memory():
    def fn():
        kept = in_thread(lambda: torch.ones(100_000))
        return kept.sum()

    both(fn, ranks=2)


def test_a_thread_of_a_thread_belongs_to_the_rank_too():
    assert both(lambda: in_thread(lambda: in_thread(dist.get_rank)), ranks=2) == [0, 1]


def serves():
    if dist.get_rank() == 0:
        inbox = torch.empty(1)
        threads = [threading.Thread(target=lambda w=w: dist.recv(inbox, w)) for w in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        dist.send(torch.ones(1), 0)


def beside_the_rank():
    group = dist.new_group()
    thread = threading.Thread(target=lambda: dist.all_reduce(torch.ones(2), group=group))
    thread.start()
    dist.all_reduce(torch.ones(2))
    thread.join()


def waits_for_the_rank():
    work = dist.irecv(torch.empty(1), 1 - dist.get_rank() % 2)
    in_thread(work.wait)


def polls_for_the_rank():
    work = dist.irecv(torch.empty(1), 1 - dist.get_rank() % 2)
    in_thread(work.is_completed)


def catches_everything():
    try:
        in_thread(lambda: dist.barrier())
    except Exception:
        return "nothing was wrong"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "program", [serves, beside_the_rank, waits_for_the_rank, polls_for_the_rank, catches_everything]
)
def test_a_thread_that_communicates_is_refused(program):
    with pytest.raises(RankRaised, match=r"rank \d communicates in a thread that it has started") as caught:
        virtual(program, ranks=3)
    assert "On the virtual cluster only a rank's own thread may" in str(caught.value)
    assert "test_threads.py, line" in caught.value.states[0].where


def test_a_checkpoint_that_is_written_beside_the_run():
    """It seemed to succeed, and had the shard of one rank only."""
    import torch.distributed.checkpoint as checkpoint

    def fn(folder):
        checkpoint.async_save({"weights": torch.ones(4)}, checkpoint_id=folder).result()

    with tempfile.TemporaryDirectory() as folder, pytest.raises(RankRaised, match="in a thread that it has started"):
        virtual(fn, folder, ranks=2)


def test_a_thread_that_makes_a_group_is_refused():
    with pytest.raises(RankRaised, match="makes a process group"):
        virtual(lambda: in_thread(lambda: dist.new_group([0, 1])), ranks=2)


class Sender(threading.Thread):
    """A class of threads with a ``run`` of its own: what it sent was in no trace."""

    def run(self):
        dist.send(torch.ones(1), 1)


def test_what_a_class_of_threads_sends_is_counted():
    def fn():
        if dist.get_rank() == 0:
            thread = Sender()
            thread.start()
            thread.join()
        else:
            dist.recv(torch.empty(1), 0)

    assert run(fn, ranks=2, on="processes").trace.sent(0).number == 1


@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_an_exception_in_a_thread_is_told_with_the_learners_lines_only(on):
    def fn():
        thread = threading.Thread(target=lambda: 1 / 0, name="divider")
        thread.start()
        thread.join()

    told = run(fn, ranks=1, on=on).printed
    assert "Exception in thread divider:" in told
    assert "thread = threading.Thread(target=lambda: 1 / 0" in told
    assert "ZeroDivisionError: division by zero" in told
    assert "lockstep" not in told.replace("test_threads", "")
    assert "threading.py" not in told
