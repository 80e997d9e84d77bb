"""The learner thought: one large message is cheaper than several."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-largest-collective"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    parameters = list(model.parameters())
    model(batch).backward()
    flat = torch.cat([p.grad.flatten() for p in parameters])
    dist.all_reduce(flat, group=group)
    flat /= dist.get_world_size(group)
    return [mean.view_as(p) for p, mean in zip(parameters, flat.split([p.numel() for p in parameters]))]
