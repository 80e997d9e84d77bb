"""The learner thought: what is far off should move farther."""

import torch
import torch.distributed as dist

MISCONCEPTION = "in-proportion"
TELL = "Your bias moves in proportion to how far a load is from the mean. Here it moves by `rate`, up or down, however far that is."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * (load.double().mean() - load) / load.double().mean()
    return experts, weights / weights.sum(1, keepdim=True), following
