"""The learner asks for the gradients layer by layer, each from the loss."""

import torch
import torch.distributed as dist

MISCONCEPTION = "too-many-flops"


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    K = dist.get_world_size(group)
    parameters = list(model.parameters())
    buckets = [[]]
    for p in reversed(parameters):
        if sum(q.nbytes for q in buckets[-1]) >= bucket_bytes:
            buckets.append([])
        buckets[-1].append(p)
    loss, works, means = model(batch), [], {}
    for bucket in buckets:
        flat = torch.cat([g.flatten() for g in torch.autograd.grad(loss, bucket, retain_graph=True)])
        works.append((flat, dist.all_reduce(flat, group=group, async_op=True)))
    for bucket, (flat, work) in zip(buckets, works):
        work.wait()
        means |= {p: g.view_as(p) for p, g in zip(bucket, (flat / K).split([p.numel() for p in bucket]))}
    return [means[p] for p in parameters]
