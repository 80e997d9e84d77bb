"""The learner thought: f is counted here; only the number of tokens is everybody's."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "own-shares"
TELL = "Your f_i is the share in this rank's choices. It is the share in all ranks' choices: add up the counts, too, in the same all-reduce."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    N = torch.tensor(len(scores))
    dist.all_reduce(N, group=group)
    f = torch.bincount(experts.flatten(), minlength=E) / max(1, experts.numel())
    return E * (f * F.softmax(scores, dim=1).sum(0) / N).sum()
