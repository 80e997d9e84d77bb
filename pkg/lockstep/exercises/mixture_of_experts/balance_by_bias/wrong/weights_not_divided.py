"""The learner forgot to divide weights by their sum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "weights-not-divided"
TELL = "Your weights are s itself. Divide a token's k weights by their sum."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights, following
