"""The learner thought: one ping is as good as many."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-repeats"
TELL = "repeats says how often, and you send one ping-pong."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(1):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        else:
            dist.recv(message, group=group, group_src=0)
            dist.send(message, group=group, group_dst=0)
    return (time.perf_counter() - start) / 2
