"""The learner thought: async_op=True is the overlap."""

import torch
import torch.distributed as dist

MISCONCEPTION = "waits-at-once"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    bucket = []

    def reduce():
        flat = torch.cat([p.grad.flatten() for p in bucket])
        work = dist.all_reduce(flat, group=group, async_op=True)
        work.wait()
        for p, mean in zip(bucket, (flat / K).split([p.numel() for p in bucket])):
            p.grad = mean.view_as(p)
        bucket.clear()

    def ready(p):
        bucket.append(p)
        if sum(q.grad.nbytes for q in bucket) >= bucket_bytes:
            reduce()

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    if bucket:
        reduce()
    return [p.grad for p in model.parameters()]
