"""The learner thought: backward() has the gradient of the whole batch."""

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

from lockstep.sharded.flat import shard_of

MISCONCEPTION = "own-gradient"
TELL = "Each rank steps by its own gradient: the other ranks' rows are not in it. Reduce-scatter the gradient, or all-reduce it."
VARIANTS = ["own_gradient", "own_gradient_over_k"]


def make_it_fit(layers, optimizer, batches, group=None):
    r, K = dist.get_rank(group), dist.get_world_size(group)
    flats = [layer.start().requires_grad_() for layer in layers]
    adam = optimizer(flats)
    for x, y in batches:
        for layer, flat in zip(layers, flats):
            x = layer(flat, x)
        mse_loss(x, y).backward()
        adam.step()
        adam.zero_grad()
    return [shard_of(flat.detach(), r, K) for flat in flats]
