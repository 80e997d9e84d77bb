"""The learner copied the gradient while it was under way."""

import torch.distributed as dist

MISCONCEPTION = "reads-before-wait"
TELL = "You copy or read the gradient before wait() has returned: until then nobody knows whether the sum is there. First wait, then read."


def overlapped_step(gradient, x, weights, group=None):
    transfer = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    total = gradient.clone()
    transfer.wait()
    return total, product
