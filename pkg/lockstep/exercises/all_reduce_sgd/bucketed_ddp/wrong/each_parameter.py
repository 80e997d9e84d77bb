"""The learner thought: each gradient travels when it is there."""

import torch.distributed as dist

MISCONCEPTION = "too-many-collectives"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    works = []

    def ready(p):
        works.append(dist.all_reduce(p.grad, group=group, async_op=True))

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    for work in works:
        work.wait()
    return [p.grad / K for p in model.parameters()]
