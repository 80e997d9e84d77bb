"""The learner took the softmax of the scores in place of the sigmoid."""

import torch
import torch.distributed as dist

MISCONCEPTION = "softmax"
TELL = "Your s is the softmax of a token's scores. It is the sigmoid of each score alone."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.softmax(1)
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
