"""The learner thought: a tensor's bytes are those of its storage."""

import hashlib

MISCONCEPTION = "memory-order"
TELL = "You take the bytes as they lie in memory. Two equal tensors may lie there in another order: call contiguous() first."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256()
    for p in parameters:
        digest.update(bytes(p.untyped_storage()))
    h = int.from_bytes(digest.digest()[:7], "big")
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
