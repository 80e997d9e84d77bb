"""The learner thought: what was not sent is small enough to forget."""

import torch
import torch.distributed as dist

MISCONCEPTION = "no-residual"
TELL = "Your new residual is zero everywhere: what was not sent is lost."


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
    return mean / K, torch.zeros_like(total)
