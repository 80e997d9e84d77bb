"""The learner thought: always end with a mean."""

import torch.distributed as dist

MISCONCEPTION = "mean-without-steps"
TELL = "With steps = 0 there is nothing to average: you all-reduce all the same."


def local_sgd(gradient, w, steps, rate, period, group=None):

    K = dist.get_world_size(group)
    w = w.clone()
    done = 0
    while True:
        for _ in range(min(period, steps - done)):
            w = w - rate * gradient(w, done)
            done += 1
        dist.all_reduce(w, group=group)
        w = w / K
        if done == steps:
            return w
