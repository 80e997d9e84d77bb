"""The learner thought: GPipe gives the same gradients."""

MISCONCEPTION = "ignores-the-stream"
TELL = (
    "You follow a schedule of your own, not the stream. Gradients are right, but what the stream's order saves is lost."
)
ALSO = ["another-order"]


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
        y.pop(i).backward(dy.pop(i, None))
        if s > 0:
            dx[i] = x.pop(i).grad

    for parameter in module.parameters():
        parameter.grad = None
    order = [i for what, i in stream if what == "F"]
    for i in order:
        if s > 0:
            exchange([("receive activation", i)])
        forward(i)
        if s < p - 1:
            exchange([("send activation", i)])
    for i in order:
        if s < p - 1:
            exchange([("receive gradient", i)])
        backward(i)
        if s > 0:
            exchange([("send gradient", i)])
    return [parameter.grad for parameter in module.parameters()]
