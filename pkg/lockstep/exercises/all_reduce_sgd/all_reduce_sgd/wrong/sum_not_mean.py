"""The learner thought: the all-reduce gives the gradient of the whole batch."""

import torch.distributed as dist

MISCONCEPTION = "sum-not-mean"
TELL = "You subtract the sum of the ranks' gradients. Each of them is a mean already, and so is what the step needs: the sum is K times too large."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    for t, (x, y) in enumerate(batches, start=1):
        g = gradient(w, x, y)
        dist.all_reduce(g, group=group)
        w = w - alpha(t) * g
    return w
