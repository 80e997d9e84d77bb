"""The learner thought: gradients are set to zero, in place."""

import torch
import torch.distributed as dist

MISCONCEPTION = "changes-its-results"


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    from itertools import groupby

    s, p = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy = dict(enumerate(inputs)), {}, {}, {}
    for w in module.parameters():
        if w.grad is None:
            w.grad = torch.zeros_like(w)
        w.grad.zero_()
    for computing, steps in groupby(stream, lambda pair: pair[0] in "FB"):
        operations = []
        for what, i in steps:
            if what == "F":
                x[i] = x[i].detach().requires_grad_()
                y[i] = module(x[i])
                if s == p - 1:
                    y[i] = loss(y[i], targets[i]) / len(targets)
            elif what == "B":
                y.pop(i).backward(dy.pop(i, None))
                dx[i] = x.pop(i).grad
                if s == 0:
                    del dx[i]
            elif what == "send activation":
                operations.append(dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=s + 1))
            elif what == "receive activation":
                x[i] = torch.empty(shape)
                operations.append(dist.P2POp(dist.irecv, x[i], group=group, group_peer=s - 1))
            elif what == "send gradient":
                operations.append(dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=s - 1))
            else:
                dy[i] = torch.empty_like(y[i])
                operations.append(dist.P2POp(dist.irecv, dy[i], group=group, group_peer=s + 1))
        if operations:
            for work in dist.batch_isend_irecv(operations):
                work.wait()
    return [w.grad for w in module.parameters()]
