"""The learner thought: more pairs give a better mean."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "others-not-idle"


def ping_pong(nbytes, repeats, group=None):
    rank = dist.get_rank(group)
    partner = rank ^ 1
    if partner >= dist.get_world_size(group):
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank < partner:
            dist.send(message, group=group, group_dst=partner)
            dist.recv(message, group=group, group_src=partner)
        else:
            dist.recv(message, group=group, group_src=partner)
            dist.send(message, group=group, group_dst=partner)
    return (time.perf_counter() - start) / (2 * repeats)
