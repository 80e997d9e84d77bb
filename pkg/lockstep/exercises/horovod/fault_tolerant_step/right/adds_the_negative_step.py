"""What is summed is the change of the weights; a decision multiplies nothing."""

import torch
import torch.distributed as dist


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, most = dist.get_rank(group), max(steps)
    sources = [r for r in range(len(steps)) if steps[r] == most]
    new = torch.zeros_like(w)
    if me in sources:
        new += w
    for r in [r for r in range(len(steps)) if steps[r] != most]:
        if me == sources[-1]:
            dist.isend(new, group=group, group_dst=r).wait()
        if me == r:
            dist.irecv(new, group=group, group_src=sources[-1]).wait()
    change = torch.zeros_like(new)
    if me in sources:
        change -= rate / len(sources) * gradient(new)
    failed = None
    try:
        all_reduce(change)
    except RuntimeError as error:
        failed = error
    kept = vote(failed is None)
    return (new + change, most + 1) if kept else (new, most)
