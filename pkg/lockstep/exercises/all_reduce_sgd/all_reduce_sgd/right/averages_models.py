"""Each rank takes its own step, then the models are averaged: the mean of w - alpha g is w - alpha times the mean of g."""

import torch
import torch.distributed as dist


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    ranks = dist.get_world_size(group)
    v = w.detach().clone()
    for i in range(len(batches)):
        x, y = batches[i]
        mine = v - alpha(i + 1) * gradient(v, x, y)
        mine /= ranks
        dist.all_reduce(mine, op=dist.ReduceOp.SUM, group=group)
        v = mine
    return v
