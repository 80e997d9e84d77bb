"""The learner thought: all inputs are alike."""

MISCONCEPTION = "changes-arguments"

import torch
import torch.distributed as dist

from itertools import groupby


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    s, p = dist.get_rank(group), dist.get_world_size(group)
    m = len(targets)
    for q in module.parameters():
        q.grad = None
    x, y, dx, dy = dict(enumerate(inputs)), {}, {}, {}
    for computing, steps in groupby(stream, lambda pair: pair[0] in "FB"):
        operations = []
        for what, i in steps:
            if what == "F":
                x[i].requires_grad_()
                y[i] = module(x[i])
                if s == p - 1:
                    y[i] = loss(y[i], targets[i]) / m
            elif what == "B":
                y.pop(i).backward(dy.pop(i, None))
                dx[i] = x.pop(i).grad
            elif what == "send activation":
                operations.append(dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=s + 1))
            elif what == "receive activation":
                x[i] = torch.empty(shape)
                operations.append(dist.P2POp(dist.irecv, x[i].detach(), group=group, group_peer=s - 1))
            elif what == "send gradient":
                operations.append(dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=s - 1))
            elif what == "receive gradient":
                dy[i] = torch.empty(y[i].shape)
                operations.append(dist.P2POp(dist.irecv, dy[i], group=group, group_peer=s + 1))
        if operations:
            for work in dist.batch_isend_irecv(operations):
                work.wait()
    return [q.grad for q in module.parameters()]
