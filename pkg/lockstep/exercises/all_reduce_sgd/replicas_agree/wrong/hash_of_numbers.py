"""The learner thought: the hash of a tuple of numbers sees every bit of them."""

import torch
import torch.distributed as dist

MISCONCEPTION = "values-not-bits"
TELL = "hash() of numbers goes by their values: 0.0 and −0.0 have the same one, and each NaN object its own. Take the bytes of the tensors, and hashlib or zlib."


def replicas_agree(parameters, group=None):
    h = hash(tuple(x for p in parameters for x in p.flatten().tolist())) >> 2
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
