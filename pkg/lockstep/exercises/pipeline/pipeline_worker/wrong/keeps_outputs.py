"""The learner thought: an output is small."""

MISCONCEPTION = "keeps-all-micro-batches"
TELL = "You keep the output of each micro-batch to the end, or a tensor as large as it, as its gradient. After its last pair nobody needs it."


from itertools import groupby

import torch
import torch.distributed as dist


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    s, p = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy = dict(enumerate(inputs)), {}, {}, {}

    def exchange(messages):
        batch = []
        for what, i in messages:
            if what == "send activation":
                batch.append(dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=s + 1))
            if what == "send gradient":
                batch.append(dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=s - 1))
            if what == "receive activation":
                x[i] = torch.empty(shape)
                batch.append(dist.P2POp(dist.irecv, x[i], group=group, group_peer=s - 1))
            if what == "receive gradient":
                dy[i] = torch.empty_like(y[i])
                batch.append(dist.P2POp(dist.irecv, dy[i], group=group, group_peer=s + 1))
        for work in dist.batch_isend_irecv(batch):
            work.wait()

    def forward(i):
        if s > 0:
            x[i].requires_grad_()
        y[i] = module(x[i])
        if s == p - 1:
            y[i] = loss(y[i], targets[i]) / len(targets)

    def backward(i):
        y[i].backward(dy.pop(i, None))
        if s > 0:
            dx[i] = x.pop(i).grad

    for parameter in module.parameters():
        parameter.grad = None
    for messages, steps in groupby(stream, lambda pair: pair[0] not in "FB"):
        if messages:
            exchange(steps)
        else:
            for what, i in steps:
                forward(i) if what == "F" else backward(i)
    return [parameter.grad for parameter in module.parameters()]
