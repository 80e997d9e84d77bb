"""The learner thought: hash() of the same bytes is the same everywhere."""

import torch
import torch.distributed as dist

MISCONCEPTION = "salted-hash"
TELL = "Python's hash of bytes and of text is salted: another one in each process. hashlib.sha256 and zlib.crc32 are the same everywhere."


def replicas_agree(parameters, group=None):
    h = hash(b"".join(p.detach().numpy().tobytes() for p in parameters)) >> 2
    ends = torch.tensor([h, -h])
    dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=group)
    return ends[0].item() == -ends[1].item()
