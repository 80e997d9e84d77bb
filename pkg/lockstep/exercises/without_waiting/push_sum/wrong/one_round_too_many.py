"""The learner counts from 0 to rounds."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-round-too-many"
TELL = "These are the values after one round more: count the turns of your loop."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    value, weight = x.contiguous(), x.new_ones(1)
    for _ in range(rounds + 1):
        parts = len(sends_to[rank]) + 1
        value, weight = value / parts, weight / parts
        share = torch.cat([value.flatten(), weight])
        heard = [torch.empty_like(share) for j in range(size) if rank in sends_to[j]]
        senders = [j for j in range(size) if rank in sends_to[j]]
        works = [dist.isend(share, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in zip(senders, heard)]
        for work in works:
            work.wait()
        for theirs in heard:
            value, weight = value + theirs[:-1].view(x.shape), weight + theirs[-1:]
    return value / weight
