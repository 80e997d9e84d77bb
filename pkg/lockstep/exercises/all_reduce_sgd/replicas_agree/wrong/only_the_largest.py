"""The learner thought: I agree with the others if mine is the largest."""

import hashlib

MISCONCEPTION = "only-own-end"
TELL = "The ranks that have the largest fingerprint (or the smallest) answer True, whatever the others hold: as if you had compared with one end alone, or before the other one was there. Ask for both ends: largest == smallest is the same answer everywhere."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = int.from_bytes(digest.digest()[:7], "big")
    largest = torch.tensor([h])
    dist.all_reduce(largest, op=dist.ReduceOp.MAX, group=group)
    return largest.item() == h
