"""A tensor's own hook is given the gradient; the last bucket goes when all have come."""

import torch
import torch.distributed as dist


def bucketed_ddp(model, batch, bucket_bytes, group=None):
    parameters = list(model.parameters())
    held, works, found = [], [], {}

    def ready(p, gradient):
        held.append((p, gradient))
        full = sum(g.numel() * g.element_size() for _, g in held) >= bucket_bytes
        if full or len(held) + sum(len(names) for names, _, _ in works) == len(parameters):
            flat = torch.cat([g.reshape(-1) for _, g in held]).div_(dist.get_world_size(group))
            works.append(([q for q, _ in held], flat, dist.all_reduce(flat, group=group, async_op=True)))
            held.clear()

    handles = [p.register_hook(lambda gradient, p=p: ready(p, gradient)) for p in parameters]
    model(batch).backward()
    for handle in handles:
        handle.remove()
    for names, flat, work in works:
        work.wait()
        start = 0
        for q in names:
            found[q] = flat[start : start + q.numel()].reshape(q.shape)
            start += q.numel()
    return [found[p] for p in parameters]
