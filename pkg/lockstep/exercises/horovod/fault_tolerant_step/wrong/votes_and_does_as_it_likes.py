"""The learner thought: I vote, and I know best whether all went well here."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-the-decision"
TELL = "You decide by your own vote. Another rank of the replica group may have failed: do as vote(...) returns."


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
    vote(well)
    if not well:
        return w, most
    return w - rate * g / len(able), most + 1
