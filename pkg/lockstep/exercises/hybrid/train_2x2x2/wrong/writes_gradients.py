"""The learner thought: A and B are parameters, and autograd keeps their gradients."""

MISCONCEPTION = "changes-arguments"
TELL = ""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train_2x2x2(A, B, rows, inputs, targets, count, groups):
    """The gradients of this rank's parts of A and B, of the loss of all copies."""
    tp, pp, dp = groups["tp"], groups["pp"], groups["dp"]
    stage, stages = dist.get_rank(pp), dist.get_world_size(pp)
    A.requires_grad_()
    B.requires_grad_()
    A.grad = B.grad = None
    graphs, grads_out = [], []
    for i, n in enumerate(rows):
        if stage == 0:
            x = inputs[i].detach().clone()
        else:
            x = torch.empty(n, A.shape[0], dtype=A.dtype)
            dist.recv(x, group=pp, group_src=stage - 1)
        leaf = x.clone().requires_grad_()
        part = F.relu(leaf @ A) @ B
        graphs.append((leaf, part))
        total = part.detach().clone().contiguous()
        dist.all_reduce(total, group=tp)
        y = (x + total).contiguous()
        if stage == stages - 1:
            grads_out.append(2 * (y - targets[i]) / count)
        else:
            dist.send(y, group=pp, group_dst=stage + 1)
    for i in range(len(rows)):
        if stage == stages - 1:
            dy = grads_out[i]
        else:
            dy = torch.empty(rows[i], A.shape[0], dtype=A.dtype)
            dist.recv(dy, group=pp, group_src=stage + 1)
        leaf, part = graphs[i]
        part.backward(dy)
        dx = leaf.grad.clone().contiguous()
        dist.all_reduce(dx, group=tp)
        if stage > 0:
            dist.send((dx + dy).contiguous(), group=pp, group_dst=stage - 1)
    gradients = [A.grad.clone().contiguous(), B.grad.clone().contiguous()]
    for g in gradients:
        dist.all_reduce(g, group=dp)
    return gradients
