"""The learner thought: sums stay the same, so in the end all hold the mean."""

import torch
import torch.distributed as dist

MISCONCEPTION = "forgets-the-weight"
TELL = "You return the value. Ranks that hear from more others have more of it, and more weight in the same proportion: return value / weight."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    value, weight = x.contiguous(), x.new_ones(1)
    for _ in range(rounds):
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
    return value
