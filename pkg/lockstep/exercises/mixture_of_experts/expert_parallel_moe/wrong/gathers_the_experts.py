"""The learner thought: with all experts here, everything is as on one rank."""

MISCONCEPTION = "gathers-experts"
TELL = (
    "You gather all experts on every rank. They are why there are K ranks: one rank may not have room for "
    "them. The tokens travel, the experts stay."
)

import torch
import torch.distributed as dist
import torch.nn.functional as F


def expert_parallel_moe(x, gate, up, down, k, loss, group=None):
    K, each, r = dist.get_world_size(group), len(up), dist.get_rank(group)
    ups, downs = up.new_empty(K * each, *up.shape[1:]), down.new_empty(K * each, *down.shape[1:])
    dist.all_gather_into_tensor(ups, up, group=group)
    dist.all_gather_into_tensor(downs, down, group=group)
    x, gate, ups, downs = inputs = [t.clone().requires_grad_() for t in (x, gate, ups, downs)]
    scores = x @ gate.T
    experts = torch.argsort(scores, dim=1, descending=True, stable=True)[:, :k]
    weights = F.softmax(scores.gather(1, experts), dim=1)
    y = torch.zeros_like(x)
    for e in range(K * each):
        token, choice = (experts == e).nonzero(as_tuple=True)
        made = F.relu(x[token] @ ups[e].T) @ downs[e].T
        y = y.index_add(0, token, weights[token, choice].unsqueeze(1) * made)
    dx, dgate, dup, ddown = torch.autograd.grad(loss(y), inputs)
    for gradient in (dgate, dup, ddown):
        dist.all_reduce(gradient, group=group)
    return [dx, dgate, dup[r * each : (r + 1) * each], ddown[r * each : (r + 1) * each]]
