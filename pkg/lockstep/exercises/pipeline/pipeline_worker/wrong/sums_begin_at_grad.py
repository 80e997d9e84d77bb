"""The learner thought: sums go on from what .grad holds."""

import torch
import torch.distributed as dist

MISCONCEPTION = "old-gradients"


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    from itertools import groupby

    s, p = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy, sizes = dict(enumerate(inputs)), {}, {}, {}, {}
    parameters = list(module.parameters())
    total = [torch.zeros_like(w) if w.grad is None else w.grad.clone() for w in parameters]
    for computing, steps in groupby(stream, lambda pair: pair[0] in "FB"):
        operations = []
        for what, i in steps:
            if what == "F":
                x[i] = x[i].detach().requires_grad_(s > 0)
                y[i] = module(x[i])
                sizes[i] = y[i].shape
                if s == p - 1:
                    y[i] = loss(y[i], targets[i]) / len(targets)
            elif what == "B":
                wanted = parameters + ([x[i]] if s > 0 else [])
                found = torch.autograd.grad(y[i], wanted, dy.pop(i, None)) if wanted else []
                for into, gradient in zip(total, found):
                    into += gradient
                if s > 0:
                    dx[i] = found[-1]
                del x[i], y[i], found
            elif what == "send activation":
                operations.append(dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=s + 1))
            elif what == "receive activation":
                x[i] = torch.empty(shape)
                operations.append(dist.P2POp(dist.irecv, x[i], group=group, group_peer=s - 1))
            elif what == "send gradient":
                operations.append(dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=s - 1))
            else:
                dy[i] = torch.empty(sizes[i])
                operations.append(dist.P2POp(dist.irecv, dy[i], group=group, group_peer=s + 1))
        if operations:
            for work in dist.batch_isend_irecv(operations):
                work.wait()
        del operations
    return total
