"""The learner thought: each rank's own loss, averaged."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "mean-of-losses"
TELL = "You take the mean of the ranks' own losses: each rank asks that its own tokens are spread evenly. f_i is the share in all ranks' choices, so the counts need an all-reduce."


def load_balancing_loss(scores, experts, group=None):
    E, K = scores.shape[1], dist.get_world_size(group)
    if len(scores) == 0:
        return scores.sum()
    f = torch.bincount(experts.flatten(), minlength=E) / experts.numel()
    return E * (f * F.softmax(scores, dim=1).mean(0)).sum() / K
