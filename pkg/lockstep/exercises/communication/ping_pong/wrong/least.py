"""The learner thought: the least is the best measurement, as in a benchmark."""

import time

import torch
import torch.distributed as dist

MISCONCEPTION = "not-a-mean"
VARIANTS = ["least_after_warm_up"]
TELL = "That is the shortest ping-pong, halved: the mean of all is asked for."


def ping_pong(nbytes, repeats, group=None):
    rank, partner = dist.get_rank(group), 1 - dist.get_rank(group)
    if rank not in (0, 1) or dist.get_world_size(group) < 2:
        return 0.0
    ball = torch.ones(nbytes, dtype=torch.int8)
    steps = [dist.isend, dist.irecv] if rank == 0 else [dist.irecv, dist.isend]
    trips = []
    for _ in range(repeats):
        start = time.perf_counter()
        for step in steps:
            where = {"group_dst": partner} if step is dist.isend else {"group_src": partner}
            step(ball, group=group, **where).wait()
        trips.append(time.perf_counter() - start)
    return min(trips) / 2
