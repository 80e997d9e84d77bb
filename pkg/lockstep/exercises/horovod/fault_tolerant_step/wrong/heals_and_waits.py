"""The learner thought: who was behind has the newest weights now, and joins in with the next step."""

import torch
import torch.distributed as dist

MISCONCEPTION = "heals-and-waits"
TELL = "A rank that was behind returns the weights that it was sent. It takes this step, too: else it is behind again in the next one."


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
    if not vote(well) or me not in able:
        return w, most
    return w - rate * g / len(able), most + 1
