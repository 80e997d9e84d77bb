"""One MIN of the fingerprint and its negative; blake2b in place of sha256."""

import hashlib


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.blake2b(digest_size=6)
    for p in parameters:
        digest.update(p.detach().cpu().contiguous().numpy())
    h = int.from_bytes(digest.digest(), "little")
    ends = torch.tensor([-h, h], device=parameters[0].device)
    dist.all_reduce(ends, op=dist.ReduceOp.MIN, group=group)
    return ends.sum().item() == 0
