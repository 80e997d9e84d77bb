"""The weights travel beside the gradient and the sum."""

import torch
import torch.distributed as dist


def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    me, last = dist.get_rank(group), max(steps)
    n = steps.count(last)
    source = steps.index(last)
    newest, works = w.detach().clone(), []
    if steps[me] < last:
        works.append(dist.irecv(newest, group=group, group_src=source))
    elif me == source:
        for r, s in enumerate(steps):
            if s != last:
                works.append(dist.isend(newest, group=group, group_dst=r))
    total = gradient(w) if steps[me] == last else w.new_zeros(w.shape)
    failed = False
    try:
        all_reduce(total)
    except RuntimeError:
        failed = True
    for work in works:
        work.wait()
    decision = vote(not failed)
    step = newest - rate / n * total if decision else newest
    return step, last + int(decision)
