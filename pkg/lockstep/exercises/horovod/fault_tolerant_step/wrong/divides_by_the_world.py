"""The learner thought: the mean is over all ranks that there are."""

import torch
import torch.distributed as dist

MISCONCEPTION = "divides-by-the-world"
TELL = "You divide by the ranks of the whole world. Those that have died or are behind add nothing: divide by how many are up to date."


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) if me in able else torch.zeros_like(w)
    w = w.clone()
    for r in behind:
        if me == able[0]:
            dist.send(w, group=group, group_dst=r)
        elif me == r:
            dist.recv(w, group=group, group_src=able[0])
    well = True
    try:
        all_reduce(g)
    except RuntimeError:
        well = False
    if not vote(well):
        return w, most
    return w - rate * g / dist.get_world_size(), most + 1
