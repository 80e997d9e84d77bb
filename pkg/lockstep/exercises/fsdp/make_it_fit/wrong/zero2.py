"""The learner thought: parameters are needed whole, so they stay."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "level-4"


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    flats = [layer.start().requires_grad_() for layer in layers]
    shards = [shard_of(flat.detach(), r, K) for flat in flats]
    adam = optimizer(shards)

    def reduce(flat, shard):
        shard.grad, flat.grad = reduced_shard(flat.grad, group), None

    for flat, shard in zip(flats, shards):
        flat.register_post_accumulate_grad_hook(lambda flat, shard=shard: reduce(flat, shard))
    for x, y in batches:
        for layer, flat in zip(layers, flats):
            x = layer(flat, x)
        mse_loss(x, y).backward()
        adam.step()
        adam.zero_grad()
        for flat, shard in zip(flats, shards):
            flat.data.copy_(gathered(shard, len(flat), group))
    return shards
