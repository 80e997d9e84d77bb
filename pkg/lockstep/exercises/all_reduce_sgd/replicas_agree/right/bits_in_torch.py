"""The bits as whole numbers, mixed by multiplication; float64 holds 52 bits exactly."""

import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = 1
    for p in parameters:
        for byte in p.detach().contiguous().reshape(-1).view(torch.uint8).tolist():
            h = (h * 1_000_003 + byte + 1) % (2**52 - 47)
    ends = torch.tensor([h, -h], dtype=torch.float64, device=parameters[0].device)
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return bool(ends[0] == -ends[1])
