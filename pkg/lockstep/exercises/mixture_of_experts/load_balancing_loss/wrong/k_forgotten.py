"""The learner thought: f is the share of the tokens."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "k-forgotten"
TELL = "You divide the counts by N. A token has k choices: f_i is the share in all N·k of them, and all f_i together are 1."


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    return E * (counts[:-1] / N * F.softmax(scores, dim=1).sum(0) / N).sum()
