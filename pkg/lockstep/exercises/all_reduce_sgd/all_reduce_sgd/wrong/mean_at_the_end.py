"""The learner thought: it is enough to take the mean of the models in the end."""

import torch.distributed as dist

MISCONCEPTION = "mean-of-models"
TELL = "You take the mean once, of the models. By then each rank has computed its gradients at a w of its own: that is local SGD, another algorithm. Take the mean in every step."


def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    for t, (x, y) in enumerate(batches, start=1):
        w = w - alpha(t) * gradient(w, x, y)
    dist.all_reduce(w, group=group)
    return w / dist.get_world_size(group)
