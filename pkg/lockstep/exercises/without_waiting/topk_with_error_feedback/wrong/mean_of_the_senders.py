"""The learner thought: who has not sent a number has no say in its mean."""

import torch
import torch.distributed as dist

MISCONCEPTION = "mean-of-the-senders"
TELL = "You divide by the number of ranks that chose the place. A rank that did not has sent a 0 there: divide by the number of all ranks."


def topk_with_error_feedback(gradient, residual, k, group=None):
    K = dist.get_world_size(group)
    total = gradient + residual
    places = total.abs().topk(k).indices
    values = total[places]
    all_values = [torch.empty_like(values) for _ in range(K)]
    all_places = [torch.empty_like(places) for _ in range(K)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    mean, senders = torch.zeros_like(total), torch.zeros_like(total)
    for v, p in zip(all_values, all_places):
        mean[p] += v
        senders[p] += 1
    left = total.clone()
    left[places] = 0
    return mean / senders.clamp(min=1), left
