"""The learner thought: the residual collects everything."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sent-stays"
TELL = "Your new residual still holds what you have just sent, so it is sent again. Put zeros there."


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
    return mean / K, total
