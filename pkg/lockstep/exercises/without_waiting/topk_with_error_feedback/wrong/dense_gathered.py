"""The learner thought: gather the sparse vectors, then take their mean."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-zeros"
TELL = "You gather n numbers of each rank, most of which are zeros. Send k values and their k places."


def topk_with_error_feedback(gradient, residual, k, group=None):

    total = gradient + residual
    sent = torch.zeros_like(total)
    places = total.abs().topk(k).indices
    sent[places] = total[places]
    everyone = [torch.empty_like(sent) for _ in range(dist.get_world_size(group))]
    dist.all_gather(everyone, sent, group=group)
    return torch.stack(everyone).mean(0), total - sent
