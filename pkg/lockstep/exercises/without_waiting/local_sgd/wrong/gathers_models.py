"""The learner thought: to take the mean, I need all models."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-models"
TELL = "You gather the model of every rank, K times as many numbers as w has. An all-reduce gives their sum."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            models = [torch.empty_like(w) for _ in range(K)]
            dist.all_gather(models, w, group=group)
            w = torch.stack(models).mean(dim=0)
    return w
