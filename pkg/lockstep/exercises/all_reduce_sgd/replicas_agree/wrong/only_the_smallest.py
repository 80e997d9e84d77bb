"""The learner thought: I agree with the others if mine is the smallest."""

import hashlib

MISCONCEPTION = "only-own-end"
TELL = "The ranks that have the largest fingerprint (or the smallest) answer True, whatever the others hold: as if you had compared with one end alone, or before the other one was there. Ask for both ends: largest == smallest is the same answer everywhere."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = int.from_bytes(digest.digest()[:7], "big")
    smallest = torch.tensor([h])
    dist.all_reduce(smallest, op=dist.ReduceOp.MIN, group=group)
    return smallest.item() == h
