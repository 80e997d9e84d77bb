"""The learner took ranks 0 and 1 of the world, not of the group."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank()
    if rank > 1 or dist.get_world_size() == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank == 0:
            dist.send(message, dst=1)
            dist.recv(message, src=1)
        else:
            dist.recv(message, src=0)
            dist.send(message, dst=0)
    return (time.perf_counter() - start) / (2 * repeats)
