"""The learner thought: all ranks are in it."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "ignores-group"


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts)
    N = counts[-1]
    return E * (counts[:-1] / (N * experts.shape[1]) * F.softmax(scores, dim=1).sum(0) / N).sum()
