"""The learner thought: the parameters that are gathered last are the result."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import gathered, reduced_shard, shard_of

MISCONCEPTION = "one-step-behind"
TELL = "You return the parameters from before the last step."


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
        before = [shard.clone() for shard in shards]
        adam.step()
        adam.zero_grad()
        for flat, shard in zip(flats, shards):
            flat.data.copy_(gathered(shard, len(flat), group))
    return before
