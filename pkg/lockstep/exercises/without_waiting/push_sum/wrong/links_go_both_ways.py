"""The learner thought: whoever I send to sends to me."""

import torch
import torch.distributed as dist

MISCONCEPTION = "crashed:Deadlock"
TELL = "Links go one way: rank i receives from each j with i in sends_to[j], and need not from those that it sends to."


def push_sum(x, sends_to, rounds, group=None):
    rank = dist.get_rank(group)
    both = torch.cat([x.flatten(), x.new_ones(1)])
    for _ in range(rounds):
        share = both / (len(sends_to[rank]) + 1)
        heard = {j: torch.empty_like(share) for j in sends_to[rank]}
        works = [dist.isend(share, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        both = share + sum(heard.values())
    return (both[:-1] / both[-1]).view(x.shape)
