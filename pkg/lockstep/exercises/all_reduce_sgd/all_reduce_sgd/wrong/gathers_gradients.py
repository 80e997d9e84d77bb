"""The learner thought: to take the mean, I need all gradients."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-gradients"
TELL = "You gather the gradient of every rank, K times as many numbers as w has. An all-reduce gives their sum."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        everyone = [torch.empty_like(g) for _ in range(dist.get_world_size(group))]
        dist.all_gather(everyone, g, group=group)
        w = w - alpha(t) * torch.stack(everyone).mean(dim=0)
    return w
