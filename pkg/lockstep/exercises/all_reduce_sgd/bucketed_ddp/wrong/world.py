"""The learner forgot to pass the group on to the all-reduce."""

import torch
import torch.distributed as dist

MISCONCEPTION = "ignores-group"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    bucket, launched = [], []

    def launch():
        flat = torch.cat([p.grad.flatten() for p in bucket]) / K
        launched.append((bucket.copy(), flat, dist.all_reduce(flat, async_op=True)))
        bucket.clear()

    def ready(p):
        bucket.append(p)
        if sum(q.grad.nbytes for q in bucket) >= bucket_bytes:
            launch()

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    if bucket:
        launch()
    for members, flat, work in launched:
        work.wait()
        for p, mean in zip(members, flat.split([p.numel() for p in members])):
            p.grad = mean.view_as(p)
    return [p.grad for p in model.parameters()]
