"""The learner thought: each round is a push-sum of its own, which begins with a weight of 1."""

import torch
import torch.distributed as dist

MISCONCEPTION = "divides-each-round"
TELL = "You divide after every round and begin again with a weight of 1. Value and weight go on as they are; divide once, at the end."
VARIANTS = ["divides_each_round"]


def push_sum(x, sends_to, rounds, group=None):
    rank = dist.get_rank(group)
    senders = [j for j, targets in enumerate(sends_to) if rank in targets]
    value = x.contiguous()
    for _ in range(rounds):
        share = torch.cat([value.flatten(), x.new_ones(1)]) / (len(sends_to[rank]) + 1)
        heard = [torch.empty_like(share) for _ in senders]
        works = [dist.isend(share, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in zip(senders, heard)]
        for work in works:
            work.wait()
        both = share + sum(heard)
        value = (both[:-1] / both[-1]).view(x.shape)
    return value.clone()
