"""What travels is how far each rank has gone since the last mean."""

import torch
import torch.distributed as dist


def local_sgd(gradient, w, steps, rate, period, group=None):

    common, since = w, torch.zeros_like(w)
    for step in range(steps):
        since -= rate * gradient(common + since, step)
        if (step + 1) % period == 0 or step == steps - 1:
            since /= dist.get_world_size(group)
            dist.all_reduce(since, op=dist.ReduceOp.SUM, group=group)
            common, since = common + since, torch.zeros_like(w)
    return common
