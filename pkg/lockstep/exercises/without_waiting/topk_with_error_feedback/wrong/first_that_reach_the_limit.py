"""The learner thought: the first k that are as large as the k-th are the k largest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "first-k-of-many"
TELL = (
    "You take the first k places that are as large as the k-th largest. With ties there are more of them, and a larger one "
    "that stands behind them stays: take the larger ones first."
)


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = (total.abs() >= total.abs().topk(k).values[-1]).nonzero().flatten()[:k]
    values = total[places]
    all_values = [torch.empty_like(values) for _ in range(K)]
    all_places = [torch.empty_like(places) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    mean = torch.zeros_like(total)
    for r in range(K):
        mean[all_places[r]] += all_values[r]
    return mean / K, total.index_fill(0, places, 0)
