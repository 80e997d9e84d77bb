"""The learner thought: zeros cost little, and an all-reduce adds up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "sends-zeros"
TELL = "You all-reduce all n numbers, most of which are zeros. Send k values and their k places."


def topk_with_error_feedback(gradient, residual, k, group=None):

    total = gradient + residual
    sent = torch.zeros_like(total)
    places = total.abs().topk(k).indices
    sent[places] = total[places]
    left = total - sent
    dist.all_reduce(sent, group=group)
    return sent / dist.get_world_size(group), left
