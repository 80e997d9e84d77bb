"""The learner thought: a gradient that does not count is multiplied by 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "times-zero"
TELL = "You multiply the gradient of a rank that is behind by 0. If it is nan, that is nan: add zeros that come of nothing else."


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) * (me in able)
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
    return w - rate * g / len(able), most + 1
