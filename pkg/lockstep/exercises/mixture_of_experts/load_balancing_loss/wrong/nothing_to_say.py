"""The learner thought: a rank without tokens has nothing to say."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "crashed:Deadlock"
TELL = "A rank without tokens takes part in the all-reduce all the same: the others wait for it there."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    if len(scores) == 0:
        return scores.sum()
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    return E * (counts[:-1] / (N * experts.shape[1]) * F.softmax(scores, dim=1).sum(0) / N).sum()
