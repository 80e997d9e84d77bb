"""The learner thought: without tokens there is nothing to do."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def balance_by_bias(scores, bias, k, rate, group=None):
    if len(scores) == 0:
        none = torch.empty(0, k)
        return none.long(), none.double(), bias.clone()
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
