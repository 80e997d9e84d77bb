"""The learner thought: a number is a number, and took float64."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "elements-not-bytes"
TELL = "A tensor of n float64 numbers has 8n bytes: with dtype=torch.uint8 an element takes one."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.float64)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        else:
            dist.recv(message, group=group, group_src=0)
            dist.send(message, group=group, group_dst=0)
    return (time.perf_counter() - start) / (2 * repeats)
