"""The learner thought: topk of the magnitudes gives places and values, and I send both."""

import torch
import torch.distributed as dist

MISCONCEPTION = "signs-lost"
TELL = "You send magnitudes: the signs are lost. Take the places from total.abs().topk(k), and the values from total."


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    values, places = total.abs().topk(k)
    all_values = [torch.empty_like(values) for _ in range(K)]
    all_places = [torch.empty_like(places) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    mean = torch.zeros_like(total)
    for theirs, where in zip(all_values, all_places, strict=True):
        mean.index_add_(0, where, theirs)
    return mean / K, total.index_fill(0, places, 0)
