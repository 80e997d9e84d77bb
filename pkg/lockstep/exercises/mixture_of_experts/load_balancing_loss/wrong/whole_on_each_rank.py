"""The learner thought: every rank needs the loss."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "whole-on-each-rank"
TELL = "Every rank returns the whole loss, so that the parts add up to K times as much. P needs no all-reduce: this rank's probabilities, divided by N, make its part."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    own = F.softmax(scores, dim=1).sum(0)
    counts = torch.bincount(experts.flatten(), minlength=E)
    sums = torch.cat([counts, own.detach(), torch.tensor([len(scores)])])
    dist.all_reduce(sums, group=group)
    N = sums[-1]
    P = (sums[E:-1] + own - own.detach()) / N
    return E * (sums[:E] / (N * experts.shape[1]) * P).sum()
