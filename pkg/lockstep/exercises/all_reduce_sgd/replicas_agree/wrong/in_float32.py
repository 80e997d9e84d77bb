"""The learner thought: parameters are float32."""

import zlib

MISCONCEPTION = "rounded-to-float32"
TELL = "The last bits are gone before you look at them: some parameters are float64, and numbers that are printed or turned into float32 are rounded."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = zlib.crc32(torch.cat([p.detach().float().flatten() for p in parameters]).numpy().tobytes())
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
