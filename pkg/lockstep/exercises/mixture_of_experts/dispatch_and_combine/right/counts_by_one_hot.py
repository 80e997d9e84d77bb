"""Counts as sums of one-hot rows; results put back by a second permutation; weights by a matrix product."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def dispatch_and_combine(x, experts, weights, compute, count, capacity, group=None):
    K, (T, k) = dist.get_world_size(group), experts.shape
    wants = F.one_hot(experts.T.reshape(-1), count)
    places = wants * (wants.cumsum(0) <= capacity)  # (k·T, E)
    kept = places.any(1).view(k, T).T
    counts = places.sum(0)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    sent, got = counts.view(K, -1).sum(1), arriving.view(K, -1).sum(1)
    turn = places.T.nonzero()[:, 1]  # expert by expert
    rows = x.new_empty(int(got.sum()), x.shape[1])
    dist.all_to_all_single(rows, x[turn % max(T, 1)], got.tolist(), sent.tolist(), group=group)
    order = torch.repeat_interleave(torch.arange(count, device=x.device) % (count // K), arriving).argsort()
    per_expert = arriving.view(K, -1).sum(0).tolist()
    made = torch.cat([compute(i, part) for i, part in enumerate(rows[order].split(per_expert))])
    back = x.new_empty(len(turn), x.shape[1])
    dist.all_to_all_single(back, made[order.argsort()], sent.tolist(), got.tolist(), group=group)
    of_token = x.new_zeros(T, len(turn))
    of_token[turn % max(T, 1), torch.arange(len(turn))] = weights.T.reshape(-1)[turn]
    return of_token @ back, kept
