"""The learner thought: a loss is a number."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "no-gradient"
TELL = "The gradient comes through P: keep the softmax within autograd, and build the result from it."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    loss = E * (counts[:-1] / (N * experts.shape[1]) * F.softmax(scores, dim=1).sum(0) / N).sum()
    return torch.tensor(loss.item())
