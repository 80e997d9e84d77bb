"""The root of each backward pass is a sum of products, so that B is one call everywhere."""

from itertools import groupby

import torch
import torch.distributed as dist


class Stage:
    def __init__(self, module, inputs, targets, loss, shape, group):
        self.module, self.targets, self.loss, self.shape, self.group = module, targets, loss, shape, group
        self.stage, self.last = dist.get_rank(group), dist.get_world_size(group) - 1
        self.inputs, self.x, self.y, self.gradients = inputs, {}, {}, {}

    def run_f(self, i):
        x = self.x[i] if self.stage else self.inputs[i]
        self.y[i] = self.module(x.requires_grad_() if self.stage else x)

    def run_b(self, i):
        y = self.y.pop(i)
        if self.stage == self.last:
            root = self.loss(y, self.targets[i]) / len(self.targets)
        else:
            root = (y * self.gradients.pop(i)).sum()
        root.backward()
        if self.stage:
            self.gradients["dx", i] = self.x.pop(i).grad

    def post(self, what, i):
        if what == "send activation":
            return dist.P2POp(dist.isend, self.y[i].detach(), group=self.group, group_peer=self.stage + 1)
        if what == "send gradient":
            tensor = self.gradients.pop(("dx", i))
            return dist.P2POp(dist.isend, tensor, group=self.group, group_peer=self.stage - 1)
        if what == "receive activation":
            self.x[i] = torch.empty(self.shape)
            return dist.P2POp(dist.irecv, self.x[i], group=self.group, group_peer=self.stage - 1)
        self.gradients[i] = torch.empty_like(self.y[i])
        return dist.P2POp(dist.irecv, self.gradients[i], group=self.group, group_peer=self.stage + 1)


def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    worker = Stage(module, inputs, targets, loss, shape, group)
    module.zero_grad()
    for kind, steps in groupby(stream, lambda pair: pair[0] if pair[0] in "FB" else "messages"):
        if kind == "messages":
            for work in dist.batch_isend_irecv([worker.post(*step) for step in steps]):
                work.wait()
        for _, i in steps:
            worker.run_f(i) if kind == "F" else worker.run_b(i)
    return [parameter.grad for parameter in module.parameters()]
