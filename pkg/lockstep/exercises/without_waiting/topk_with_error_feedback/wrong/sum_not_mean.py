"""The learner thought: the all-gather gives everything that the step needs."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sum-not-mean"
TELL = "You return the sum of what the ranks have sent. It is K times too large: divide by the number of ranks."


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = total.abs().topk(k).indices
    values = total[places]
    all_values = [torch.empty_like(values) for _ in range(K)]
    all_places = [torch.empty_like(places) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    mean = torch.zeros_like(total)
    for v, p in zip(all_values, all_places):
        mean[p] += v
    left = total.clone()
    left[places] = 0
    return mean, left
