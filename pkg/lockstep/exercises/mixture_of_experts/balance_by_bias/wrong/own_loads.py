"""The learner counts this rank's tokens: the bias needs no message."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-loads"
TELL = "Each rank moves its bias by the loads of its own tokens, so soon the ranks have different gates. The counts of all ranks are needed."


def balance_by_bias(scores, bias, k, rate, group=None):
    s = scores.sigmoid()
    experts = torch.argsort(s + bias, dim=1, descending=True, stable=True)[:, :k]
    weights = s.gather(1, experts)
    load = torch.bincount(experts.flatten(), minlength=len(bias))
    following = bias + rate * torch.sign(load.double().mean() - load)
    return experts, weights / weights.sum(1, keepdim=True), following
