"""The learner thought: rank 0 has the right weights, as in Horovod."""

import torch
import torch.distributed as dist

MISCONCEPTION = "from-rank-0"
TELL = "You take rank 0's weights for the right ones. Rank 0 may be behind itself: ask `steps` who is up to date."


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) if me in able else torch.zeros_like(w)
    w = w.clone()
    for r in range(1, len(steps)):
        if me == 0 and steps[r] < most:
            dist.send(w, group=group, group_dst=r)
        elif me == r and steps[r] < most:
            dist.recv(w, group=group, group_src=0)
    well = True
    try:
        all_reduce(g)
    except RuntimeError:
        well = False
    if not vote(well):
        return w, most
    return w - rate * g / len(able), most + 1
