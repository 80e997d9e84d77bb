"""The learner thought: P is a mean over all ranks, so all ranks must know it."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "too-many-bytes"
TELL = "The probabilities needn't travel: P is a sum over tokens, and this rank's summand is this rank's part."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    own = F.softmax(scores, dim=1).sum(0)
    counts = torch.bincount(experts.flatten(), minlength=E)
    sums = torch.cat([counts.double(), own.detach().double(), torch.tensor([len(scores)])])
    dist.all_reduce(sums, group=group)
    N = sums[-1]
    return E * (sums[:E] / (N * experts.shape[1]) * own / N).sum()
