"""Gathering ahead: the same output, the same bytes, and less time where gathers hide behind computing."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.residency import booked
from lockstep.sharded.flat import shard_of
from lockstep.sharded.layers import dense
from lockstep.sharded.zero3 import one_after_the_other, prefetch

WIDTHS = [400, 500, 450, 480, 300]


def forward(gather, group=None):
    layers = dense(WIDTHS)
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shards = [shard_of(layer.start(), r, K) for layer in layers]
    x = torch.randn(512, WIDTHS[0], generator=torch.Generator().manual_seed(r))
    out, held = booked(lambda *given: gather(*given, group=group), layers, shards, x)
    return out, held["peak"], x


def alone(x):
    for layer in dense(WIDTHS):
        x = layer(layer.start(), x)
    return x


@pytest.mark.slow
@pytest.mark.parametrize("world", ["dgx-a100", "processes"])
def test_the_output_is_that_of_the_whole_model(world):
    for out, _, x in run(forward, prefetch, ranks=3, on=world).values:
        assert torch.allclose(out, alone(x), atol=1e-5)


@pytest.mark.slow
def test_less_time_and_as_many_bytes_on_the_link():
    ahead, after = (run(forward, gather, ranks=4, on="dgx-a100") for gather in (prefetch, one_after_the_other))
    assert ahead.trace.counts() == after.trace.counts()
    assert ahead.time < 0.95 * after.time


def test_two_layers_are_whole_and_no_more():
    whole = sorted(4 * layer.numel for layer in dense(WIDTHS))
    activations = 3 * 4 * 512 * max(WIDTHS)  # a layer's input, its product and its output
    for _, held, _ in run(forward, prefetch, ranks=2, on="dgx-a100").values:
        assert whole[-1] < held <= sum(whole[-2:]) + 2 * 8 + activations


def in_a_group(gather):
    group = dist.new_group([0, 2])
    return forward(gather, group) if dist.get_rank() != 1 else None


def test_a_group_that_is_not_the_world():
    first, outside, second = run(in_a_group, prefetch, ranks=3, on="dgx-a100").values
    assert outside is None
    assert all(torch.allclose(out, alone(x), atol=1e-5) for out, _, x in (first, second))
