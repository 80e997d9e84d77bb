"""A mask of what is sent, places of 32 bits, and scatter_add."""

import torch
import torch.distributed as dist


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient.add(residual)
    largest = sorted(range(len(total)), key=lambda i: -abs(total[i].item()))[:k]
    mask = total.new_tensor([i in largest for i in range(len(total))], dtype=torch.bool)
    places, values = mask.nonzero()[:, 0].int(), total[mask]
    where, what = places.new_empty(K * k), values.new_empty(K * k)
    works = [
        dist.all_gather_into_tensor(where, places, group=group, async_op=True),
        dist.all_gather_into_tensor(what, values, group=group, async_op=True),
    ]
    for work in works:
        work.wait()
    mean = torch.zeros_like(total).scatter_add_(0, where.long(), what * (1 / K))
    return mean, torch.where(mask, torch.zeros_like(total), total)
