"""The learner added the bias to the scores, before the sigmoid."""

import torch
import torch.distributed as dist

MISCONCEPTION = "bias-before-the-sigmoid"
TELL = "You add the bias to the scores, and take the sigmoid of the sum. It is added to s, after the sigmoid."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort((scores + bias).sigmoid(), dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
