"""The residual by its definition: total minus what was sent."""

import torch
import torch.distributed as dist


def topk_with_error_feedback(gradient, residual, k, group=None):
    total = gradient + residual
    _, places = torch.topk(total.abs(), k)
    sent = torch.zeros_like(total).index_copy(0, places, total[places])
    pairs = [[t.new_empty(k) for _ in range(dist.get_world_size(group))] for t in (total, places)]
    dist.all_gather(pairs[0], total[places], group=group)
    dist.all_gather(pairs[1], places, group=group)
    mean = torch.zeros_like(total)
    mean.index_put_((torch.cat(pairs[1]),), torch.cat(pairs[0]), accumulate=True)
    return mean.div_(len(pairs[0])), total - sent
