"""The learner thought: mean[places] += values adds all of them."""

import torch
import torch.distributed as dist

MISCONCEPTION = "same-place-lost"
TELL = "Where several ranks send the same place, your mean has only one of their values: an assignment overwrites. Add them up."


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
    mean[torch.cat(all_places)] += torch.cat(all_values)
    left = total.clone()
    left[places] = 0
    return mean / K, left
