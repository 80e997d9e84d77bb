"""The learner thought: what is missing is the total minus the result."""

import torch
import torch.distributed as dist

MISCONCEPTION = "residual-of-the-mean"
TELL = "You subtract the mean over all ranks from your own total. The residual is what this one rank has not sent: its total, with zeros at the places that it has sent."


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
    mean = mean / K
    return mean, total - mean
