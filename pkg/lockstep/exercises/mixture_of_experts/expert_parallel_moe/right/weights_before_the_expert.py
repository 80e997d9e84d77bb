"""Rows are weighted before they travel: the expert has two matrices and relu, and weights are above 0."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def exchange(rows, sent, received, group):
    out = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(out, rows.contiguous(), received, sent, group=group)
    return out


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, sent, received, group):
        ctx.parts = sent, received, group
        return exchange(rows, sent, received, group)

    @staticmethod
    def backward(ctx, gradient):
        sent, received, group = ctx.parts
        return exchange(gradient, received, sent, group), None, None, None


def expert_parallel_moe(x, gate, up, down, k, loss, group=None):
    K, each, E = dist.get_world_size(group), len(up), len(gate)
    x, gate, up, down = inputs = [t.clone().requires_grad_() for t in (x, gate, up, down)]
    scores = x @ gate.T
    experts = torch.argsort(scores, dim=1, descending=True, stable=True)[:, :k]
    weights = F.softmax(scores.gather(1, experts), dim=1)
    order = torch.argsort(experts.flatten(), stable=True)
    token = order // k
    counts = torch.bincount(experts.flatten(), minlength=E)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    sent = counts.view(K, each).sum(1).tolist()
    received = arriving.view(K, each).sum(1).tolist()
    rows = Exchange.apply(weights.flatten()[order].unsqueeze(1) * x[token], sent, received, group)
    by_expert = torch.argsort(torch.arange(each, device=x.device).repeat(K).repeat_interleave(arriving), stable=True)
    parts = rows[by_expert].split(arriving.view(K, each).sum(0).tolist())
    made = torch.cat([F.relu(part @ u.T) @ d.T for part, u, d in zip(parts, up, down)])
    back = Exchange.apply(made[torch.argsort(by_expert)], received, sent, group)
    y = torch.zeros_like(x).index_add(0, token, back)
    gradients = list(torch.autograd.grad(loss(y), inputs))
    dist.all_reduce(gradients[1], group=group)
    return gradients
