"""The learner thought: eight bytes fit into an int64."""

import hashlib

MISCONCEPTION = "crashed:RankRaised"
TELL = "An int64 holds whole numbers below 2^63, with their sign: seven bytes of a digest fit, eight may not."
RAISES = "Overflow when unpacking long"


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = int.from_bytes(digest.digest()[:8], "big")
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
