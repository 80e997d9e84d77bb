"""The learner thought: whoever is equal to the mean is equal to the others."""

import torch
import torch.distributed as dist

MISCONCEPTION = "compares-with-mean"
TELL = "You compare a sum of elements with its mean over the ranks. Changes cancel in the sum, and a rank in the middle is equal to the mean though all differ."


def replicas_agree(parameters, group=None):
    mine = sum(p.double().sum().item() for p in parameters)
    mean = torch.tensor([mine], dtype=torch.float64)
    dist.all_reduce(mean, group=group)
    return abs(mean.item() / dist.get_world_size(group) - mine) < 1e-9
