"""The learner thought: add up one fingerprint for each tensor."""

import zlib

MISCONCEPTION = "tensors-in-any-order"
TELL = "A sum of one fingerprint for each tensor does not say which tensor is where: two that are exchanged give the same sum. Feed all of them into one fingerprint, in their order."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = sum(zlib.crc32(p.detach().numpy().tobytes()) for p in parameters)
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
