"""Buckets are planned beforehand; a bucket waits for the one before it, so that two never travel at once."""

import torch
import torch.distributed as dist


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    plan, place = [0], {}
    parameters = list(model.parameters())
    for p in parameters[::-1]:
        if plan[-1] and plan[-1] + p.nbytes > bucket_bytes:
            plan.append(0)
        place[p] = len(plan) - 1, plan[-1] // 4
        plan[-1] += p.nbytes
    buckets = [torch.empty(n // 4, device=batch.device) for n in plan]
    left, works = list(plan), []

    def ready(p):
        b, offset = place[p]
        buckets[b][offset : offset + p.numel()] = p.grad.flatten()
        left[b] -= p.nbytes
        if left[b] == 0:
            if works:
                works[-1].wait()
            works.append(dist.all_reduce(buckets[b], group=group, async_op=True))

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in parameters]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    works[-1].wait()
    K = dist.get_world_size(group)
    return [buckets[b][o : o + p.numel()].view(p.shape) / K for p in parameters for b, o in [place[p]]]
