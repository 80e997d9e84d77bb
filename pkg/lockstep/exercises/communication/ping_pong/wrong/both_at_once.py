"""The learner thought: both may send at the same time, wires go both ways."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "both-at-once"
TELL = "Ping and pong cross: rank 1 receives the ping first, then answers it."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        sending = dist.isend(message, group=group, group_dst=1 - rank)
        dist.recv(torch.empty_like(message), group=group, group_src=1 - rank)
        sending.wait()
    return (time.perf_counter() - start) / (2 * repeats)
