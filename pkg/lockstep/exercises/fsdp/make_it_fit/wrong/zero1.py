"""The learner thought: a gradient that is reduced when the backward pass is over is reduced soon enough."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "level-3"


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    flats = [layer.start().requires_grad_() for layer in layers]
    shards = [shard_of(flat.detach(), r, K) for flat in flats]
    adam = optimizer(shards)
    for x, y in batches:
        for layer, flat in zip(layers, flats):
            x = layer(flat, x)
        mse_loss(x, y).backward()
        for flat, shard in zip(flats, shards):
            shard.grad, flat.grad = reduced_shard(flat.grad, group), None
        adam.step()
        adam.zero_grad()
        for flat, shard in zip(flats, shards):
            flat.data.copy_(gathered(shard, len(flat), group))
    return shards
