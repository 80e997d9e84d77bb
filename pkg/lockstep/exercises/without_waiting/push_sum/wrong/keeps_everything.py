"""The learner sends shares, and keeps the whole."""

import torch
import torch.distributed as dist

MISCONCEPTION = "keeps-the-whole"
TELL = "You keep all that you had and send shares of it besides: values and weights of all ranks together grow. Keep one share."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    both = torch.cat([x.flatten(), x.new_ones(1)])
    for _ in range(rounds):
        share = both / (len(sends_to[rank]) + 1)
        heard = {j: torch.empty_like(share) for j in range(size) if rank in sends_to[j]}
        works = [dist.isend(share, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        both = both + sum(heard.values())
    return (both[:-1] / both[-1]).view(x.shape)
