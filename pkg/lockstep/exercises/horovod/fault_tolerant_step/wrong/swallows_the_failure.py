"""The learner thought: an exception must not stop the training."""

import torch
import torch.distributed as dist

MISCONCEPTION = "votes-well"


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
    try:
        all_reduce(g)
    except RuntimeError:
        pass
    if not vote(True):
        return w, most
    return w - rate * g / len(able), most + 1
