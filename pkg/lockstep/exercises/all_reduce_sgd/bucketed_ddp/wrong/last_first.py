"""The learner returns the gradients in the order in which they arrived."""

import torch
import torch.distributed as dist

MISCONCEPTION = "last-first"
TELL = "These gradients are in the order of the buckets. Return them in the order of model.parameters()."
ALSO = ["other-order"]


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    bucket, launched = [], []

    def launch():
        flat = torch.cat([p.grad.flatten() for p in bucket]) / K
        launched.append((bucket.copy(), flat, dist.all_reduce(flat, group=group, async_op=True)))
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
    means = []
    for members, flat, work in launched:
        work.wait()
        means += [mean.view_as(p) for p, mean in zip(members, flat.split([p.numel() for p in members]))]
    return means
