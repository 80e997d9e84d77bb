"""The learner thought: each rank counts its own steps."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-number"
TELL = "A rank that was behind counts on from its own number. With the weights it gets the number of steps that are in them."


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
        return w, steps[me]
    return w - rate * g / len(able), steps[me] + 1
