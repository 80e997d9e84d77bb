"""The learner thought: counts are added up, and tokens are added up."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "too-many-collectives"
TELL = "Counts and the number of tokens can travel together, in a tensor of E + 1 numbers."


def load_balancing_loss(scores, experts, group=None):
    E, N = scores.shape[1], torch.tensor(len(scores))
    counts = torch.bincount(experts.flatten(), minlength=E)
    dist.all_reduce(counts, group=group)
    dist.all_reduce(N, group=group)
    return E * (counts / (N * experts.shape[1]) * F.softmax(scores, dim=1).sum(0) / N).sum()
