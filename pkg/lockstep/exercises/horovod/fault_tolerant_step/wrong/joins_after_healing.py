"""The learner thought: with the new weights its gradient is as good as any."""

import torch
import torch.distributed as dist

MISCONCEPTION = "joins-after-healing"
TELL = "You heal first, and then count the gradients of ranks that were behind. In this step they add zeros, and n is how many were up to date."


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
    return w - rate * g / len(steps), most + 1
