"""The learner thought: with all of them here, I can add them up."""

import torch
import torch.distributed as dist

MISCONCEPTION = "no-all-reduce"


def masked_sum(value, secrets, mask, group=None):
    rank, own = dist.get_rank(group), value.clone()
    for other, secret in enumerate(secrets):
        if secret is not None:
            own += mask(secret) if rank < other else -mask(secret)
    own %= 2**32
    everyone = [torch.empty_like(own) for _ in range(dist.get_world_size(group))]
    dist.all_gather(everyone, own, group=group)
    return torch.stack(everyone).sum(0) % 2**32
