"""The learner thought: the mean is over K ranks, and so is the residual."""

import torch
import torch.distributed as dist

MISCONCEPTION = "residual-divided"
TELL = "You divide the new residual by the number of ranks. Only the mean is a mean: sent + residual is total."


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
    return mean / K, left / K
