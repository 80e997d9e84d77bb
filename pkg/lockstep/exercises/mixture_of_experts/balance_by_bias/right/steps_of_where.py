"""Moves the bias by where, with whole numbers."""

import torch
import torch.distributed as dist


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    total, E = load.sum(), len(load)
    following = torch.where(load * E > total, bias - rate, torch.where(load * E < total, bias + rate, bias))
    return experts, weights / weights.sum(1, keepdim=True), following
