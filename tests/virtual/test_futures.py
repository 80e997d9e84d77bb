"""A rank that waited for several futures at once waited in C++, with the baton in its hand: the run was stuck."""

import pytest
import torch
import torch.distributed as dist
from both_worlds import both

from lockstep import run
from lockstep.errors import RankRaised


def sums(n):
    """Futures of n all-reduces: of 0, 1, 2 ... times the rank."""
    tensors = [torch.full((2,), float(i * dist.get_rank())) for i in range(n)]
    return [dist.all_reduce(t, async_op=True).get_future() for t in tensors]


@pytest.mark.slow
def test_all_values_at_once():
    def fn():
        return [value[0] for value in torch.futures.wait_all(sums(3))]

    assert [t.tolist() for t in both(fn, ranks=4)[0]] == [[0.0, 0.0], [6.0, 6.0], [12.0, 12.0]]


def test_a_future_of_futures():
    def fn():
        together = torch.futures.collect_all(sums(3))
        total = together.then(lambda done: sum(f.value()[0] for f in done.value()))
        return total.wait(), together.done()

    assert both(fn, ranks=2)[0][0].tolist() == [3.0, 3.0]


def test_a_callback_that_collects():
    """What a communication hook of DDP may do with several buckets."""

    def fn():
        first, second = sums(2)
        both_done = torch.futures.collect_all([first.then(lambda f: f.value()[0] + 1), second])
        return [f.wait() for f in both_done.wait()]

    both(fn, ranks=2)


def test_plain_futures_are_left_alone():
    def fn():
        done = torch.futures.Future()
        done.set_result(dist.get_rank())
        return torch.futures.wait_all([done]), torch.futures.collect_all([done]).wait()[0].value()

    assert both(fn, ranks=2)[1] == ([1], 1)


def test_a_future_that_has_failed_fails_again():
    """Who asked it a second time waited for ever."""

    def fn():
        failed = sums(1)[0].then(lambda f: f.value()[0].no_such_thing)
        with pytest.raises(AttributeError):
            failed.wait()
        failed.wait()

    with pytest.raises(RankRaised, match="no_such_thing"):
        run(fn, ranks=2, on="dgx-a100")
