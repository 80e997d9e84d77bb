"""The learner started the all-reduce, made the step, and waited then."""

import torch.distributed as dist

MISCONCEPTION = "reads-before-wait"
TELL = "You use the gradient before wait() has returned: until then nobody knows whether the sum is there. First wait, then make the step."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    K = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        summing = dist.all_reduce(g, group=group, async_op=True)
        w = w - alpha(t) / K * g
        summing.wait()
    return w
