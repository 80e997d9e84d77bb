"""The learner thought: a token goes to its best expert."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "first-choices-only"
TELL = "You count the first choices alone. All k choices of a token count."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts[:, 0], minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    return E * (counts[:-1] / N * F.softmax(scores, dim=1).sum(0) / N).sum()
