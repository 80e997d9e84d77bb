"""Values and places travel as one tensor of float64, which holds both exactly."""

import torch
import torch.distributed as dist


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = torch.argsort(total.abs(), descending=True)[:k]
    message = torch.stack([total[places].double(), places.double()])
    everyone = [torch.empty_like(message) for _ in range(K)]
    dist.all_gather(everyone, message, group=group)
    mean = torch.zeros_like(total)
    for values, where in everyone:
        mean[where.long()] += values.to(total.dtype)
    left = total.clone()
    left[places] = 0
    return mean / K, left
