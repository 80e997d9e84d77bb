"""The learner thought: weights that add up to 1 are a softmax."""

import torch
import torch.distributed as dist

MISCONCEPTION = "softmax-of-choices"
TELL = "Your weights are a softmax of the s of the choices. Divide them by their sum."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, torch.softmax(weights, dim=1), following
