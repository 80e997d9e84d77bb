"""The learner thought: all ranks send the same places."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-places"
TELL = "You put the values of all ranks at your own places. Each rank has chosen places of its own: gather the places as well."


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = total.abs().topk(k).indices
    values = total[places]
    all_values = [torch.empty_like(values) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    mean = torch.zeros_like(total)
    mean[places] = sum(all_values) / K
    left = total.clone()
    left[places] = 0
    return mean, left
