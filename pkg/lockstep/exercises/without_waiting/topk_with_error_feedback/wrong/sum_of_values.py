"""The learner thought: values are all-reduced, as always."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-places"
TELL = "You put the values of all ranks at your own places. Each rank has chosen places of its own: gather the places as well."
VARIANTS = ["places_of_the_first_rank"]


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = total.abs().topk(k).indices
    values = total[places]
    total = total.clone()
    dist.all_reduce(values, group=group)
    mean = torch.zeros_like(total)
    mean[places] = values / K
    left = total.clone()
    left[places] = 0
    return mean, left
