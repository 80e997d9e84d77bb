"""A rank that waited for a key of the store waited in C++, with the baton in its hand: the run was stuck."""

import datetime

import pytest
import torch.distributed as dist
from both_worlds import both

from lockstep import run
from lockstep.errors import RankRaised


def store():
    return dist.distributed_c10d._get_default_store()


def test_a_key_that_the_last_rank_leaves():
    def fn():
        me = dist.get_rank()
        if me == dist.get_world_size() - 1:
            store().set("answer", "42")
        store().wait(["answer"])
        return store().get("answer"), store().check(["answer", "question"])

    assert both(fn, ranks=3) == [(b"42", False)] * 3


@pytest.mark.slow
def test_ranks_that_count_themselves():
    def fn():
        total = store().add("here", 1)
        if total == dist.get_world_size():
            store().set("all", "yes")
        return store().get("all")

    assert both(fn, ranks=4) == [b"yes"] * 4


def test_a_key_that_nobody_leaves():
    def fn():
        store().wait(["nothing"], datetime.timedelta(seconds=1))

    with pytest.raises(RankRaised, match=r"no rank has left anything in the store under .*nothing"):
        run(fn, ranks=2, on="dgx-a100")
