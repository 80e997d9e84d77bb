"""The learner thought: the ranks are always all ranks."""

import hashlib

MISCONCEPTION = "ignores-group"


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = int.from_bytes(digest.digest()[:7], "big")
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX)
    return ends[0].item() == -ends[1].item()
