"""One loop over the steps; what a rank has moved since the last round is kept beside w."""

import torch
import torch.distributed as dist


def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    v, moved = torch.zeros_like(w), torch.zeros_like(w)
    for step in range(steps):
        moved = moved + rate * gradient(w - moved, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            work = dist.all_reduce(moved, group=group, async_op=True)
            work.wait()
            moved = moved / dist.get_world_size(group)
            v = momentum * v + moved
            w, moved = w - outer_rate * (moved + momentum * v), torch.zeros_like(w)
    return w
