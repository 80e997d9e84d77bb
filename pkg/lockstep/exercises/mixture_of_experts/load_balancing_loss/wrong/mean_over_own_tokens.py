"""The learner thought: f is everybody's, and P is the mean over my tokens."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "mean-over-own-tokens"
TELL = "One of your two means is over this rank's T tokens. Both f_i and P_i are over N, the tokens of all ranks."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.bincount(experts.flatten(), minlength=E)
    dist.all_reduce(counts, group=group)
    P = F.softmax(scores, dim=1).sum(0) / max(1, len(scores))
    return E * (counts / counts.sum() * P).sum()
