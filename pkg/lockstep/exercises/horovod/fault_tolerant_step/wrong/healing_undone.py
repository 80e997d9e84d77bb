"""The learner thought: a discarded step leaves everything as it was."""

import torch
import torch.distributed as dist

MISCONCEPTION = "healing-undone"
TELL = "Where the step is discarded, you discard what healing brought, too. What is discarded is the step: keep the weights that were sent, and their number."


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) if me in able else torch.zeros_like(w)
    begun = w.clone()
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
        return begun, steps[me]
    return w - rate * g / len(able), most + 1
