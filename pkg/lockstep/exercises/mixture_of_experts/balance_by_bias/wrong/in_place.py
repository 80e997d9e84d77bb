"""The learner moved the bias that was given."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-arguments"


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    bias += rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), bias
