"""The learner thought: what is as large as the k-th is sent."""

import torch
import torch.distributed as dist

MISCONCEPTION = "more-than-k"
TELL = "Where several elements are as large as the k-th, you send more than k of them."


def topk_with_error_feedback(gradient, residual, k, group=None):

    K = dist.get_world_size(group)
    total = gradient + residual
    mask = total.abs() >= total.abs().topk(k).values[-1]
    sent = total * mask
    everyone = [torch.empty_like(sent) for _ in range(K)]
    dist.all_gather(everyone, sent, group=group)
    return sum(everyone) / K, total * ~mask
