"""The learner thought: first I send, then I receive."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    both = torch.cat([x.flatten(), x.new_ones(1)])
    for _ in range(rounds):
        share = both / (len(sends_to[rank]) + 1)
        for j in sends_to[rank]:
            dist.send(share, group=group, group_dst=j)
        both = share.clone()
        for j in range(size):
            if rank in sends_to[j]:
                theirs = torch.empty_like(share)
                dist.recv(theirs, group=group, group_src=j)
                both += theirs
    return (both[:-1] / both[-1]).view(x.shape)
