"""The learner thought: the loss is the sum of f·P."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "without-E"
TELL = "You leave out the factor E: with it, the loss is 1 where all is even, however many experts there are."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    return (counts[:-1] / (N * experts.shape[1]) * F.softmax(scores, dim=1).sum(0) / N).sum()
