"""The learner thought: to compare parameters, all of them must travel."""

import torch
import torch.distributed as dist

MISCONCEPTION = "values-not-bits"
TELL = "You compare all values: that costs as much as the gradients, and values are not bits. 0.0 == −0.0, and a NaN is not equal to itself. Boil the bytes down to one whole number first."


def replicas_agree(parameters, group=None):
    flat = torch.cat([p.double().flatten() for p in parameters])
    ends = torch.cat([flat, -flat])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return bool(torch.equal(ends[: len(flat)], -ends[len(flat) :]))
