"""The learner thought: the norm of the parameters tells replicas apart."""

import torch
import torch.distributed as dist

MISCONCEPTION = "norm-as-fingerprint"
TELL = "The norm does not say which element is where: elements may change places, and signs turn, without changing it. Mix all bits, as hashlib.sha256 does of the bytes."


def replicas_agree(parameters, group=None):
    norm = sum((p.double() ** 2).sum().item() for p in parameters)
    ends = torch.tensor([norm, -norm], dtype=torch.float64)
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
