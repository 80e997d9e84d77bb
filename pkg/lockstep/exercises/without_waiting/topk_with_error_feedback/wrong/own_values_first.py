"""The learner thought: a sum is the same in any order."""

import torch
import torch.distributed as dist

MISCONCEPTION = "means-differ"


def topk_with_error_feedback(gradient, residual, k, group=None):
    K, me = dist.get_world_size(group), dist.get_rank(group)
    total = gradient + residual
    places = total.abs().topk(k).indices
    values = total[places]
    all_values = [torch.empty_like(values) for _ in range(K)]
    all_places = [torch.empty_like(places) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    mean = torch.zeros_like(total)
    for r in sorted(range(K), key=lambda r: (r - me) % K):
        mean[all_places[r]] += all_values[r]
    return mean / K, total.index_fill(0, places, 0)
