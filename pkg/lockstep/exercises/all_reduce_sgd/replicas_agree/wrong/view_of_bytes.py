"""The learner thought: any tensor can be seen as bytes."""

import hashlib

MISCONCEPTION = "crashed:RankRaised"
TELL = "A tensor that is not contiguous cannot be seen as one row: call contiguous() first, or reshape(-1), which copies it."
RAISES = "^RuntimeError: view size is not compatible"


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256()
    for p in parameters:
        digest.update(p.detach().view(-1).view(torch.uint8).numpy().tobytes())
    h = int.from_bytes(digest.digest()[:7], "big")
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
