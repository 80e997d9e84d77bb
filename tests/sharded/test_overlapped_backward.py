"""A backward pass that hides what travels: the same gradients, the same bytes, and less virtual time."""

from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lockstep import run
from lockstep.residency import booked
from lockstep.sharded.flat import shard_of
from lockstep.sharded.overlapped_backward import one_after_the_other, prefetch_backward, with_parameters

WIDTHS, ROWS = [400, 500, 450, 480, 300], 512


def blocks():
    return [nn.Sequential(nn.Linear(a, b), nn.GELU()) for a, b in pairwise(WIDTHS)]


def flats():
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(a * b + b, generator=generator) / a**0.5 for a, b in pairwise(WIDTHS)]


def kept(r):
    """What goes into each block on rank r, and the gradient that flows back."""
    generator = torch.Generator().manual_seed(r)
    found, flowing = (
        [torch.randn(ROWS, WIDTHS[0], generator=generator)],
        torch.randn(ROWS, WIDTHS[-1], generator=generator),
    )
    for block, flat in zip(blocks(), flats(), strict=True):
        found.append(with_parameters(block, flat, found[-1]))
    return found[:-1], flowing


def backward(pass_, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    with torch.device("meta"):
        modules = blocks()
    shards, (inputs, flowing) = [shard_of(flat, r, K) for flat in flats()], kept(r)
    found, held = booked(lambda *given: pass_(*given, group=group), modules, shards, inputs, flowing)
    return found, held["peak"]


def alone(K):
    """By rank the shards of the mean gradient of K ranks' rows."""
    means = [torch.zeros_like(flat) for flat in flats()]
    for r in range(K):
        own, (inputs, flowing) = [flat.requires_grad_() for flat in flats()], kept(r)
        x = inputs[0]
        for block, flat in zip(blocks(), own, strict=True):
            x = with_parameters(block, flat, x)
        for mean, gradient in zip(means, torch.autograd.grad(x, own, flowing), strict=True):
            mean += gradient / K
    return [[shard_of(mean, r, K) for mean in means] for r in range(K)]


def agree(found, wanted):
    return all(torch.allclose(a, b, rtol=1e-4, atol=1e-3) for a, b in zip(found, wanted, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("pass_", [prefetch_backward, one_after_the_other])
@pytest.mark.parametrize("ranks", [1, 3])
def test_the_gradients_are_those_of_the_whole_model(pass_, ranks):
    done = run(backward, pass_, ranks=ranks, on="dgx-a100")
    assert all(agree(found, wanted) for (found, _), wanted in zip(done.values, alone(ranks), strict=True))


@pytest.mark.slow
def test_on_processes_too():
    done = run(backward, prefetch_backward, ranks=2, on="processes")
    assert all(agree(found, wanted) for (found, _), wanted in zip(done.values, alone(2), strict=True))


def test_as_many_bytes_and_less_time():
    ahead, after = (run(backward, pass_, ranks=4, on="dgx-a100") for pass_ in (prefetch_backward, one_after_the_other))
    assert ahead.trace.counts() == after.trace.counts()
    assert ahead.time < 0.95 * after.time


@pytest.mark.parametrize(("pass_", "hidden"), [(prefetch_backward, True), (one_after_the_other, False)])
def test_while_a_block_computes_one_gather_and_one_reduce_scatter_are_under_way(pass_, hidden):
    events = run(backward, pass_, ranks=2, on="dgx-a100").trace.of_rank(0)
    gathers, reduces = ([e for e in events if e.kind == kind] for kind in ("all_gather", "reduce_scatter"))
    for gather, reduce in zip(gathers[2:], reduces, strict=False):
        computing = next(e for e in events if e.flops and e.posted >= max(gather.posted, reduce.posted))
        assert (computing.posted < min(gather.end, reduce.end)) == hidden


def in_a_group():
    group = dist.new_group([0, 2])
    return backward(prefetch_backward, group)[0] if dist.get_rank() != 1 else None


@pytest.mark.slow
def test_a_group_that_is_not_the_world():
    first, outside, second = run(in_a_group, ranks=3, on="dgx-a100").values
    assert outside is None
    assert all(agree(found, wanted) for found, wanted in zip((first, second), alone(2), strict=True))
