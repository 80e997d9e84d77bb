"""The learner thought: take the mean of each tensor and look whether it changed."""

import torch
import torch.distributed as dist

MISCONCEPTION = "compares-with-the-mean-of-each"
TELL = "You compare each tensor with its mean over the ranks: a rank in the middle is equal to it though all differ, means are rounded, and all parameters travel."


def replicas_agree(parameters, group=None):
    agree = True
    for p in parameters:
        before = p.clone()
        mean = p.contiguous()
        dist.all_reduce(mean, group=group)
        agree = agree and torch.equal(before, mean / dist.get_world_size(group))
    return agree
