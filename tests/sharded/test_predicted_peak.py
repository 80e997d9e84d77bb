"""The formula of the peak, beside what a rank holds in the second step of a training with torch's Adam."""

import gc
from functools import partial
from itertools import product

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.cost.sharding import FLOAT32, predict_peak
from lockstep.errors import UsageError
from lockstep.events import MEMORY_KINDS
from lockstep.residency import peak_of
from lockstep.sharded.flat import padded, shard_length
from lockstep.sharded.layers import dense

WIDTHS = {"the first": (31, 9, 5, 3), "in the middle": (3, 21, 23, 2), "the last": (2, 5, 7, 31)}  # the largest layer
STATES = [MEMORY_KINDS.index(kind) for kind in ("parameters", "gradients", "optimizer state")]


def own(whole):
    """This rank's part of a whole vector: a view."""
    n = len(whole) // dist.get_world_size()
    return whole[dist.get_rank() * n :][:n]


def reduced(gradient):
    shard = gradient.new_empty(shard_length(len(gradient), dist.get_world_size()))
    dist.reduce_scatter_tensor(shard, gradient)
    return shard.div_(dist.get_world_size())


def reduce(whole, shard):
    shard.grad = reduced(whole.grad)
    whole.grad = None


def replicated(stage, layers, x):
    """Stages 0 to 2: a step each time it is asked for the next."""
    K = 1 if stage == 0 else dist.get_world_size()
    wholes = [padded(layer.start(), K).requires_grad_() for layer in layers]
    shards = wholes if stage == 0 else [own(whole.detach()).requires_grad_() for whole in wholes]
    adam = torch.optim.Adam(shards)
    if stage == 2:
        for whole, shard in zip(wholes, shards, strict=True):
            whole.register_post_accumulate_grad_hook(partial(reduce, shard=shard))
    while True:
        h = x
        for layer, whole in zip(layers, wholes, strict=True):
            h = layer(whole[: layer.numel], h)
        h.sum().backward()
        for whole, shard in reversed(list(zip(wholes, shards, strict=True))):
            if stage == 0:
                dist.all_reduce(whole.grad.div_(dist.get_world_size()))
            elif stage == 1:
                reduce(whole, shard)
        adam.step()
        adam.zero_grad()
        for whole, shard in zip(wholes, shards, strict=True):
            if stage:
                dist.all_gather_into_tensor(whole.detach(), shard.detach())
        yield


def fully_sharded(layers, x):
    """Stage 3. The storage of a whole vector is empty but while its layer computes."""
    K = dist.get_world_size()
    shards = [own(padded(layer.start(), K)).clone().requires_grad_() for layer in layers]
    adam = torch.optim.Adam(shards)
    while True:
        h = x
        for layer, shard in zip(layers, shards, strict=True):
            whole = torch.nn.Parameter(shard.new_empty(K * len(shard)))
            gather(whole.untyped_storage(), shard)
            h = layer(whole[: layer.numel], h)
            whole.untyped_storage().resize_(0)
            h.register_hook(partial(refill, whole.untyped_storage(), shard))
            whole.register_post_accumulate_grad_hook(partial(release_and_reduce, shard=shard))
            del whole
        h.sum().backward()
        del h
        adam.step()
        adam.zero_grad()
        yield


def gather(storage, shard):
    storage.resize_(dist.get_world_size() * shard.nbytes)
    dist.all_gather_into_tensor(shard.new_empty(0).set_(storage), shard.detach())


def refill(storage, shard, _):
    gather(storage, shard)


def release_and_reduce(whole, shard):
    whole.untyped_storage().resize_(0)
    reduce(whole, shard)


def second_steps():
    """Of each stage and each network the largest sum of the three kinds, but for Adam's counters of steps."""
    found = {}
    for stage, (where, widths) in product(range(4), WIDTHS.items()):
        layers, x = dense(widths), torch.ones(1, widths[0])
        steps = fully_sharded(layers, x) if stage == 3 else replicated(stage, layers, x)
        next(steps)
        with peak_of() as memory:
            next(steps)
            held = max(sum(held[kind] for kind in STATES) for _, held in memory().samples)
        found[stage, where] = held - FLOAT32 * len(layers)
        del steps
        gc.collect()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 3])
def test_the_formula_is_what_a_rank_holds(ranks):
    for found in run(second_steps, ranks=ranks, on="dgx-a100").values:
        for (stage, where), held in found.items():
            sizes = [layer.numel for layer in dense(WIDTHS[where])]
            assert held == predict_peak(sizes, ranks, stage), (stage, where)


def test_where_the_largest_layer_is_makes_a_difference():
    assert [predict_peak(sizes, 4, 3) for sizes in ([40, 4], [4, 40])] == [4 * (33 + 80 + 1), 4 * (33 + 80)]
    assert [predict_peak(sizes, 4, 1) for sizes in ([40, 4], [4, 40])] == [4 * (66 + 40 + 1 + 10), 4 * (66 + 44 + 10)]


def test_states_of_table_1_are_the_least_that_a_step_can_hold():
    for stage, nbytes in enumerate((16, 12, 10, 8)):  # of a parameter, on 2 ranks
        assert nbytes * 50_000 <= predict_peak([1000] * 50, 2, stage) <= nbytes * 50_000 + 2 * 4 * 1000


def test_a_stage_that_is_none():
    with pytest.raises(UsageError, match="no stage 4"):
        predict_peak([3], 2, 4)
