"""The learner thought: all ranks should know the result, so rank 0 tells them."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "others-not-idle"


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        elif rank == 1:
            dist.recv(message, group=group, group_src=0)
            dist.send(message, group=group, group_dst=0)
    mean = torch.tensor((time.perf_counter() - start) / (2 * repeats))
    dist.broadcast(mean, group=group, group_src=0)
    return mean.item()
