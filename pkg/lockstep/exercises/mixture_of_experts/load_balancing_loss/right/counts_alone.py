"""The counts say how many choices there are, and with k how many tokens."""

import torch
import torch.distributed as dist


def load_balancing_loss(scores, experts, group=None):
    E, k = scores.shape[1], experts.shape[1]
    counts = torch.zeros(E, device=scores.device)
    counts.index_add_(0, experts.reshape(-1), torch.ones(experts.numel(), device=scores.device))
    dist.all_reduce(counts, group=group)
    choices = counts.sum()
    weights = (E * k / choices**2) * counts
    return (torch.softmax(scores, dim=1) * weights).sum()
