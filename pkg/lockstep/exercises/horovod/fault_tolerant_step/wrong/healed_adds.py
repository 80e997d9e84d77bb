"""The learner heals first, lets the healed add their gradients, and divides by those that were up to date."""

import torch
import torch.distributed as dist

MISCONCEPTION = "wrong-values"


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    w = w.clone()
    for r in behind:
        if me == able[0]:
            dist.send(w, group=group, group_dst=r)
        elif me == r:
            dist.recv(w, group=group, group_src=able[0])
    g = gradient(w)
    well = True
    try:
        all_reduce(g)
    except RuntimeError:
        well = False
    if not vote(well):
        return w, most
    return w - rate * g / len(able), most + 1
