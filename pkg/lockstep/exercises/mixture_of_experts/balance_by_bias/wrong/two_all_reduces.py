"""The learner asked for the mean in an all-reduce of its own."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    total = load.sum()
    dist.all_reduce(load, group=group)
    dist.all_reduce(total, group=group)
    following = bias + rate * torch.sign(total / len(load) - load)
    return experts, weights / weights.sum(1, keepdim=True), following
