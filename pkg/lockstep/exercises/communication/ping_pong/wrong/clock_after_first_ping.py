"""The learner lets rank 1 start its clock when the first ping is there."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "late-clock"
VARIANTS = ["late_clock_after_warm_up"]
TELL = "Rank 1 starts its clock too late: it waits for the first ping, which belongs to the time."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for repeat in range(repeats):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        else:
            dist.recv(message, group=group, group_src=0)
            start = time.perf_counter() if repeat == 0 else start
            dist.send(message, group=group, group_dst=0)
    return (time.perf_counter() - start) / (2 * repeats)
