"""The learner lets rank 1 start its clock when the first ping after the warm-up is there."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "late-clock"
VARIANTS = ["clock_after_first_ping"]
TELL = "Rank 1 starts its clock too late: it waits for the first ping, which belongs to the time."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    for repeat in range(repeats + 1):
        if rank == 0:
            start = time.perf_counter() if repeat < 2 else start
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        else:
            dist.recv(message, group=group, group_src=0)
            start = time.perf_counter() if repeat < 2 else start
            dist.send(message, group=group, group_dst=0)
    return (time.perf_counter() - start) / (2 * repeats)
