"""The learner thought: to compare with everyone, I need everyone's number."""

import zlib

MISCONCEPTION = "gathers-fingerprints"
TELL = "You gather the fingerprint of every rank: that grows with their number. The largest and the smallest are enough, and one all-reduce of two numbers gives both."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = torch.tensor([zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in parameters))])
    everyone = [torch.empty_like(h) for _ in range(dist.get_world_size(group))]
    dist.all_gather(everyone, h, group=group)
    return all(torch.equal(other, h) for other in everyone)
