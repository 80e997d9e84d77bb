"""The learner thought: what is left is what is left of the gradient."""

import torch
import torch.distributed as dist

MISCONCEPTION = "residual-of-the-gradient"
TELL = "Your new residual is what is left of the gradient alone: what older steps have left is lost."


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
    left = gradient.clone()
    left[places] = 0
    return mean / K, left
