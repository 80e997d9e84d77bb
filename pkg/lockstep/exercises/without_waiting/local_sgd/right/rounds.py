"""Round by round, on a copy; steps that are left over make a short round."""

import torch.distributed as dist


def local_sgd(gradient, w, steps, rate, period, group=None):

    w = w.clone()
    for begin in range(0, steps, period):
        for step in range(begin, min(begin + period, steps)):
            w.sub_(gradient(w, step), alpha=rate)
        work = dist.all_reduce(w, group=group, async_op=True)
        work.wait()
        w.div_(dist.get_world_size(group))
    return w
