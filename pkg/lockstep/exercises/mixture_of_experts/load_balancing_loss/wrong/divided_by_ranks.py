"""The learner thought: gradients are averaged over the ranks, so divide by K."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

MISCONCEPTION = "divided-by-ranks"
TELL = (
    "Your part is divided by K. The parts add up to the loss as they are: N, the tokens of all ranks, is the only mean."
)


def load_balancing_loss(scores, experts, group=None):
    E = scores.shape[1]
    counts = torch.cat([torch.bincount(experts.flatten(), minlength=E), torch.tensor([len(scores)])])
    dist.all_reduce(counts, group=group)
    N = counts[-1]
    f, P = counts[:-1] / (N * experts.shape[1]), F.softmax(scores, dim=1).sum(0) / N
    return E * (f * P).sum() / dist.get_world_size(group)
