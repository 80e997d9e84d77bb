"""The learner thought: a broadcast gives everybody the same weights."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) if me in able else torch.zeros_like(w)
    w = w.clone()
    dist.broadcast(w, group=group, group_src=able[0])
    well = True
    try:
        all_reduce(g)
    except RuntimeError:
        well = False
    if not vote(well):
        return w, most
    return w - rate * g / len(able), most + 1
