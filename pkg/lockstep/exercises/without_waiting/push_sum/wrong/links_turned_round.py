"""The learner thought: sends_to[i] is whom rank i hears from."""

import torch
import torch.distributed as dist

MISCONCEPTION = "links-turned-round"
TELL = "Your messages go against the links: sends_to[i] are the ranks to which i sends. You receive from them."


def push_sum(x, sends_to, rounds, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    both = torch.cat([x.flatten(), x.new_ones(1)])
    successors = [j for j in range(size) if rank in sends_to[j]]
    for _ in range(rounds):
        share = both / (len(successors) + 1)
        heard = {j: torch.empty_like(share) for j in sends_to[rank]}
        works = [dist.isend(share, group=group, group_dst=j) for j in successors]
        works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in heard.items()]
        for work in works:
            work.wait()
        both = share + sum(heard.values())
    return (both[:-1] / both[-1]).view(x.shape)
