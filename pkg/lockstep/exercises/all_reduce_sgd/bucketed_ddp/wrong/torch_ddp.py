"""The learner calls what the exercise asks for."""

import torch
import torch.distributed as dist

MISCONCEPTION = "library-ddp"
TELL = "DistributedDataParallel is what you write here: build the buckets yourself, from hooks and all-reduces."


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    wrapped = torch.nn.parallel.DistributedDataParallel(
        model, process_group=group, bucket_cap_mb=bucket_bytes / 2**20, gradient_as_bucket_view=True
    )
    wrapped(batch).backward()
    return [p.grad for p in model.parameters()]
