"""The learner thought: a gradient is there when backward() has returned."""

import torch
import torch.distributed as dist

MISCONCEPTION = "starts-too-late"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    model(batch).backward()
    buckets = [[]]
    for p in reversed(list(model.parameters())):
        if sum(q.grad.nbytes for q in buckets[-1]) >= bucket_bytes:
            buckets.append([])
        buckets[-1].append(p)
    works = []
    for bucket in buckets:
        flat = torch.cat([p.grad.flatten() for p in bucket])
        works.append((bucket, flat, dist.all_reduce(flat, group=group, async_op=True)))
    for bucket, flat, work in works:
        work.wait()
        for p, mean in zip(bucket, (flat / K).split([p.numel() for p in bucket])):
            p.grad = mean.view_as(p)
    return [p.grad for p in model.parameters()]
