"""The learner thought: torch.topk does it."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-values"


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.topk(s + bias, k, dim=1).indices
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
