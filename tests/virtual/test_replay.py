"""A replayed stage costs what it costs in full."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.nn.functional import gelu

from lockstep import run
from lockstep.errors import RankRaised
from lockstep.virtual.replay import POSTS, replay

ON = "dgx-a100"
WIDTH, TOKENS, LAYERS = 64, 16, 3


def test_a_pipeline_of_tensor_parallel_stages_costs_what_it_costs_in_full():
    """2 stages of 2 ranks, 3 micro-batches. In full: every layer of each. Replayed: one stage, once."""

    def stage(group=None):
        inner = 4 * WIDTH // dist.get_world_size(group)
        x = torch.empty(TOKENS, WIDTH)
        for _ in range(LAYERS):
            x = gelu(x @ torch.empty(WIDTH, inner)) @ torch.empty(inner, WIDTH)
            dist.all_reduce(x, group=group)

    def pipeline(recorded):
        groups, me = [dist.new_group([0, 1]), dist.new_group([2, 3])], dist.get_rank()
        group, x = groups[me // 2], torch.empty(TOKENS, WIDTH)
        for _ in range(3):
            if me >= 2:
                dist.recv(x, me - 2)
            replay(recorded.of_rank(me % 2), group) if recorded else stage(group)
            if me < 2:
                dist.send(x, me + 2)

    once = run(stage, ranks=2, on=ON, fake=True)
    full, again = (run(pipeline, recorded, ranks=4, on=ON, fake=True) for recorded in (None, once.trace))
    assert again.trace.counts() == full.trace.counts()
    assert again.time == pytest.approx(full.time, rel=1e-12)
    for a, b in zip(again.trace, full.trace, strict=True):
        assert (a.rank, a.kind, a.nbytes, a.peer, a.group, a.flops) == (
            b.rank, b.kind, b.nbytes, b.peer, b.group, b.flops,
        )  # fmt: skip
        assert (a.start, a.end, a.wait) == pytest.approx((b.start, b.end, b.wait), rel=1e-9, abs=1e-12)


def test_what_overlapped_overlaps_again():
    def step():
        gradient, x = torch.empty(4096, 1024), torch.empty(1024, 1024)
        work = dist.all_reduce(gradient, async_op=True)
        for _ in range(3):
            x = x @ x
        work.wait()
        return x @ x

    once = run(step, ranks=4, on=ON, fake=True)
    apart = sum(e.duration for e in once.trace.of_rank(0))
    again = run(lambda: replay(once.trace.of_rank(dist.get_rank())), ranks=4, on=ON, fake=True)
    assert again.time == pytest.approx(once.time, rel=1e-9)
    assert again.time < 0.99 * apart


def test_every_kind_of_communication_can_be_replayed():
    def everything():
        me, n, x = dist.get_rank(), dist.get_world_size(), torch.ones(8)
        parts = [torch.empty(8) for _ in range(n)]
        dist.broadcast(x, 1)
        dist.reduce(x, 2)
        dist.all_reduce(x)
        dist.all_gather(parts, x)
        dist.reduce_scatter(x, parts)
        dist.scatter(x, parts if me == 1 else None, src=1)
        dist.gather(x, parts if me == 2 else None, dst=2)
        dist.all_to_all(parts, [p.clone() for p in parts])
        dist.barrier()
        if me == 0:
            dist.send(x, 1, tag=7)
        elif me == 1:
            dist.recv(x, 0, tag=7)

    once = run(everything, ranks=4, on=ON)
    again = run(lambda: replay(once.trace.of_rank(dist.get_rank())), ranks=4, on=ON, fake=True)
    assert {e.kind for e in once.trace.communication} == set(POSTS)
    assert [e.kind for e in again.trace.of_rank(1)] == [e.kind for e in once.trace.of_rank(1)]
    assert again.trace.counts() == once.trace.counts()
    assert again.time == pytest.approx(once.time, rel=1e-9)


def test_a_group_of_another_size_is_refused():
    once = run(lambda: dist.barrier(), ranks=2, on=ON, fake=True)
    with pytest.raises(RankRaised, match="was among ranks"):
        run(lambda: replay(once.trace.of_rank(0)), ranks=4, on=ON, fake=True)


def test_only_ranks_without_data_replay():
    with pytest.raises(RankRaised, match="replay is for ranks of a fake run"):
        run(lambda: replay([]), ranks=1, on=ON)
