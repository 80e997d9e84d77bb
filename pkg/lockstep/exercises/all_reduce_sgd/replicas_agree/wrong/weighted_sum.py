"""The learner thought: if each element counts by its place, nothing can cancel."""

import torch
import torch.distributed as dist

MISCONCEPTION = "weighted-sum-as-fingerprint"
TELL = "A sum weighted by place is no fingerprint either: changes may cancel in it, and rounding hides small ones. Mix all bits, as hashlib.sha256 does of the bytes."


def replicas_agree(parameters, group=None):
    flat = torch.cat([p.double().flatten() for p in parameters])
    total = (flat * torch.arange(1, len(flat) + 1, dtype=torch.float64)).sum().item()
    ends = torch.tensor([total, -total], dtype=torch.float64)
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
