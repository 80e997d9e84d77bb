"""The learner thought: when send returns, the message has arrived, so nobody needs to answer."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "one-way"
TELL = "Nobody answers: without an answer rank 0 does not know when its message arrived."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
        else:
            dist.recv(message, group=group, group_src=0)
    return (time.perf_counter() - start) / repeats
