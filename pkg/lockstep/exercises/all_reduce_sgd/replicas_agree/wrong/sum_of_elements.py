"""The learner thought: if the sums of all elements agree, so do the elements."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sum-as-fingerprint"
TELL = "A sum is no fingerprint: elements may change places, and changes may cancel, without changing it. Mix all bits, as hashlib.sha256 does of the bytes."


def replicas_agree(parameters, group=None):
    total = sum(p.double().sum().item() for p in parameters)
    ends = torch.tensor([total, -total], dtype=torch.float64)
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
