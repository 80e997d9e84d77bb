"""The learner thought: who has more is better, so it gets more."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-sign"
TELL = "Your bias moves the wrong way: an expert with more than the mean gets a higher one, and still more tokens."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load - load.double().mean())
    return experts, weights / weights.sum(1, keepdim=True), following
