"""The learner sends the value, and then the weight."""

import torch
import torch.distributed as dist

MISCONCEPTION = "value-and-weight-apart"
TELL = "Value and weight travel in two messages. Put both in one: torch.cat of x.flatten() and the weight."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    value, weight = x.contiguous(), x.new_ones(1)
    senders = [j for j in range(size) if rank in sends_to[j]]
    for _ in range(rounds):
        parts = len(sends_to[rank]) + 1
        works, total = [], []
        for mine in (value / parts, weight / parts):
            heard = [torch.empty_like(mine) for _ in senders]
            works += [dist.isend(mine, group=group, group_dst=j) for j in sends_to[rank]]
            works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in zip(senders, heard)]
            total.append((mine, heard))
        for work in works:
            work.wait()
        value, weight = (mine + sum(heard) for mine, heard in total)
    return value / weight
