"""The learner measured how long it takes to copy a message."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "no-messages"
TELL = "No message goes between ranks 0 and 1 of the group: send it, and answer it."


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        message.clone()
    return (time.perf_counter() - start) / (2 * repeats)
