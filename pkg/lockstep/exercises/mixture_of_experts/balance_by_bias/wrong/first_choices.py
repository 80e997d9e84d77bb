"""The learner counts the best expert of each token."""

import torch
import torch.distributed as dist

MISCONCEPTION = "first-choices-only"
TELL = "You count the first choices alone. All k choices of a token are load."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts[:, 0], minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
