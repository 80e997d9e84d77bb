"""The levels of sharding as functions: all train alike, and each holds less than the one before."""

from functools import partial

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.residency import booked
from lockstep.sharded import zero3
from lockstep.sharded.flat import padded, shard_of
from lockstep.sharded.layers import Block, dense

LEVELS = ["ddp", "zero1", "zero2", "zero3", "make_it_fit"]
ADAM = partial(torch.optim.Adam, lr=0.01, eps=0.01)


def batches(rank, width, examples, steps=2):
    drawn = torch.Generator().manual_seed(rank)
    return [tuple(torch.randn(2, examples, width, generator=drawn)) for _ in range(steps)]


def trained(layers, width, examples):
    """By level: the shards, and the bytes held besides the arguments."""
    own = batches(dist.get_rank(), width, examples)
    found = {level: booked(getattr(zero3, level), layers, ADAM, own) for level in LEVELS}
    return {level: (shards, held["peak"]) for level, (shards, held) in found.items()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_level_trains_as_one_rank_does(ranks):
    layers = [Block(5, 7, 0, 0), Block(5, 3, 0, 1)]  # 87 and 38 numbers
    by_rank = run(trained, layers, 5, 4, ranks=ranks, on="dgx-a100").values
    steps = zip(*(batches(r, 5, 4) for r in range(ranks)), strict=True)
    together = [tuple(map(torch.cat, zip(*pairs, strict=True))) for pairs in steps]
    flats = zero3.sequential(layers, ADAM, together)
    for r, levels in enumerate(by_rank):
        for level in LEVELS:
            for shard, flat in zip(levels[level][0], flats, strict=True):
                torch.testing.assert_close(shard, shard_of(flat, r, ranks), msg=level)


@pytest.mark.slow
def test_each_level_holds_less_than_the_one_before():
    layers = [Block(8, 32, 0, i) for i in range(8)]
    small, large = (run(trained, layers, 8, examples, ranks=4, on="dgx-a100").values[0] for examples in (2, 64))
    peaks = [small[level][1] for level in LEVELS[:4]]
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[-1] < 0.5 * peaks[0]
    assert large["make_it_fit"][1] < 0.7 * large["zero3"][1]  # activations


def gradients(layers, of):
    """On half of the ranks: a group that is not the world."""
    group = dist.new_group([0, 2])
    if dist.get_rank() not in (0, 2):
        return []
    r, (x, y) = dist.get_rank(group), batches(dist.get_rank(), 6, 4, 1)[0]
    own = [shard_of(layer.start(), r, 2) for layer in layers]
    return getattr(zero3, of)(layers, own, x, y, group)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
@pytest.mark.parametrize("of", ["fully_shard_model", "recomputed"])
def test_gradients_are_the_mean_over_a_group(of, on):
    layers = dense([6, 9, 6])
    by_rank = run(gradients, layers, of, ranks=3, on=on).values
    flats = [layer.start().requires_grad_() for layer in layers]
    for rank in (0, 2):
        x, y = batches(rank, 6, 4, 1)[0]
        for layer, flat in zip(layers, flats, strict=True):
            x = layer(flat, x)
        torch.nn.functional.mse_loss(x, y).backward()
    for i, flat in enumerate(flats):
        torch.testing.assert_close(torch.cat([by_rank[0][i], by_rank[2][i]]), padded(flat.grad / 2, 2))
    assert by_rank[1] == []


def test_a_layer_costs_two_gathers_and_a_reduce_scatter():
    counts = run(gradients, dense([6, 9, 6]), "fully_shard_model", ranks=3, on="dgx-a100").trace.counts()
    assert {(rank, kind): count.number for (rank, kind), count in counts.items() if kind != "compute"} == {
        (rank, kind): 2 * passes for rank in (0, 2) for kind, passes in (("all_gather", 2), ("reduce_scatter", 1))
    }


def test_a_layer_says_which_vector_it_takes():
    """A vector with its padding was refused in torch's words, of a split that the learner had not written."""
    with pytest.raises(ValueError, match=r"Dense\(3, 2\) takes .* shape \(8,\), and this has \(9,\)"):
        dense([3, 2])[0](torch.ones(9), torch.ones(1, 3))
