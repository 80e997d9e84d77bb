"""The learner fills the buckets in the order of the parameters, and launches them in this order."""

import torch
import torch.distributed as dist

MISCONCEPTION = "starts-too-late"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    buckets, launched, complete = [[]], [], set()
    for p in model.parameters():
        if sum(q.nbytes for q in buckets[-1]) >= bucket_bytes:
            buckets.append([])
        buckets[-1].append(p)

    def ready(p):
        complete.add(p)
        while len(launched) < len(buckets) and all(q in complete for q in buckets[len(launched)]):
            flat = torch.cat([q.grad.flatten() for q in buckets[len(launched)]])
            launched.append((flat, dist.all_reduce(flat, group=group, async_op=True)))

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    for bucket, (flat, work) in zip(buckets, launched):
        work.wait()
        for p, mean in zip(bucket, (flat / K).split([p.numel() for p in bucket])):
            p.grad = mean.view_as(p)
    return [p.grad for p in model.parameters()]
