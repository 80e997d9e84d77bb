"""The learner thought: push-sum is averaging with those that I hear from."""

import torch
import torch.distributed as dist

MISCONCEPTION = "plain-gossip"
TELL = "That is plain gossip: the mean of what is here. On one-way links all come to agree on something else than the mean. Split by the links that leave, and send weights along."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    value = x.contiguous()
    for _ in range(rounds):
        heard = {j: torch.empty_like(value) for j in range(size) if rank in sends_to[j]}
        works = [dist.isend(value, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        value = (value + sum(heard.values())) / (1 + len(heard))
    return value
