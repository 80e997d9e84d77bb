"""The learner thought: one rank tells the result."""

import hashlib

MISCONCEPTION = "wrong-type"


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = int.from_bytes(digest.digest()[:7], "big")
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    if dist.get_rank(group) == 0:
        return ends[0].item() == -ends[1].item()
