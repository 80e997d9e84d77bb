"""The learner thought: the bias is for the next step, and this one's choices are by s."""

import torch
import torch.distributed as dist

MISCONCEPTION = "chooses-without-bias"
TELL = "You choose by s alone. The bias that you get is this step's: choose by s + bias."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    dist.all_reduce(load, group=group)
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
