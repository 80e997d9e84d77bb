"""The learner thought: the largest takes one all-reduce, the smallest another."""

import zlib

MISCONCEPTION = "two-all-reduces"
TELL = "One all-reduce gives both ends: put h and −h into one tensor. The largest −h is minus the smallest h."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in parameters))
    largest, smallest = torch.tensor([h]), torch.tensor([h])
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=group)
    dist.all_reduce(smallest, op=dist.ReduceOp.MIN, group=group)
    return largest.item() == smallest.item()
