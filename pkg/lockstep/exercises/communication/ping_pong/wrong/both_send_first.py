"""The learner thought: send only hands the message over and returns."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        dist.send(message, group=group, group_dst=1 - rank)
        dist.recv(message, group=group, group_src=1 - rank)
    return (time.perf_counter() - start) / (2 * repeats)
