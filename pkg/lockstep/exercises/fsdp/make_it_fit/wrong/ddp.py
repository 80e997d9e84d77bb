"""The learner thought: a model that fits on one rank fits on each."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import shard_of

MISCONCEPTION = "level-2"


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    flats = [layer.start().requires_grad_() for layer in layers]
    adam = optimizer(flats)
    for x, y in batches:
        for layer, flat in zip(layers, flats):
            x = layer(flat, x)
        mse_loss(x, y).backward()
        for flat in flats:
            dist.all_reduce(flat.grad, group=group)
            flat.grad /= K
        adam.step()
        adam.zero_grad()
    return [shard_of(flat.detach(), r, K) for flat in flats]
