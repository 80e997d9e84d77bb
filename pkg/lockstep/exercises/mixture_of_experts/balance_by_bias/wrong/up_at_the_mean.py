"""The learner made one case of two: not more than the mean is less."""

import torch
import torch.distributed as dist

MISCONCEPTION = "moves-at-the-mean"
TELL = "An expert with just the mean is moved by yours, up like those with fewer. It keeps its bias."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.where(load > load.double().mean(), -1.0, 1.0)
    return experts, weights / weights.sum(1, keepdim=True), following
