"""The learner thought: a rank splits what it has among those that it sends to."""

import torch
import torch.distributed as dist

MISCONCEPTION = "keeps-no-share"
TELL = "You give everything away. One of the equal shares stays here: a rank with n links splits into n + 1."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    both = torch.cat([x.flatten(), x.new_ones(1)])
    for _ in range(rounds if size > 1 else 0):
        share = both / len(sends_to[rank])
        heard = {j: torch.empty_like(share) for j in range(size) if rank in sends_to[j]}
        works = [dist.isend(share, group=group, group_dst=j) for j in sends_to[rank]]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        both = sum(heard.values())
    return (both[:-1] / both[-1]).view(x.shape)
