"""The learner thought: 16 bits are enough for a count."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


MISCONCEPTION = "crashed:RankRaised"


def load_balancing_loss(scores, experts, group=None):
    E, k = scores.shape[1], experts.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    counts = counts.to(torch.int16)
    dist.all_reduce(counts, group=group)
    counts = counts.long()
    N = counts[E]
    f = counts[:E] / (N * k)
    return E * (f * F.softmax(scores, dim=-1).sum(0) / N).sum()
