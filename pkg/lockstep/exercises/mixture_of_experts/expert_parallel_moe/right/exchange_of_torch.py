"""torch's own all-to-all that autograd knows; gradients by backward()."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.nn.functional import all_to_all_single


def expert_parallel_moe(x, gate, up, down, k, loss, group=None):
    K, each, E = dist.get_world_size(group), len(up), len(gate)
    x, gate, up, down = [t.detach().clone().requires_grad_() for t in (x, gate, up, down)]
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
    rows = all_to_all_single(x.new_empty(sum(received), x.shape[1]), x[token], received, sent, group=group)
    by_expert = torch.argsort(torch.arange(each, device=x.device).repeat(K).repeat_interleave(arriving), stable=True)
    parts = rows[by_expert].split(arriving.view(K, each).sum(0).tolist())
    made = torch.cat([F.relu(part @ u.T) @ d.T for part, u, d in zip(parts, up, down)])
    made = made[torch.argsort(by_expert)]
    back = all_to_all_single(x.new_empty(sum(sent), x.shape[1]), made, sent, received, group=group)
    y = torch.zeros_like(x).index_add(0, token, weights.flatten()[order].unsqueeze(1) * back)
    loss(y).backward()
    dist.all_reduce(gate.grad, group=group)
    return [t.grad for t in (x, gate, up, down)]
