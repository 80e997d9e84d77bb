"""The learner thought: first the step, then who is behind gets its result."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sends-the-result"
TELL = "You send weights after the step. Sender and receiver may decide in different ways: send the weights from before it, and let each rank add the step or not."


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    able = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    g = gradient(w) if me in able else torch.zeros_like(w)
    well = True
    try:
        all_reduce(g)
    except RuntimeError:
        well = False
    kept = vote(well)
    w = w - rate * g / len(able) if kept else w.clone()
    for r in behind:
        if me == able[0]:
            dist.send(w, group=group, group_dst=r)
        elif me == r:
            dist.recv(w, group=group, group_src=able[0])
    return w, most + kept
