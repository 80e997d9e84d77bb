"""The learner thought: the weight is mine alone, and is divided as the value is."""

import torch
import torch.distributed as dist

MISCONCEPTION = "weight-is-not-sent"
TELL = "The weight only ever gets smaller here. It travels with the value: shares of both are sent, and what arrives of both is added."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    value, weight = x.contiguous(), 1.0
    for _ in range(rounds):
        parts = len(sends_to[rank]) + 1
        value, weight = value / parts, weight / parts
        heard = {j: torch.empty_like(value) for j in range(size) if rank in sends_to[j]}
        works = [dist.isend(value, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        value = value + sum(heard.values())
    return value / weight
