"""The learner added the bias once, and went on with the sum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "weighs-with-bias"
TELL = "Your weights are of s + bias. The bias chooses and doesn't weigh: take the s of the choices without it."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid() + bias
    experts = torch.argsort(s, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
