"""The learner thought: an expert has C places, whoever sends the tokens."""

MISCONCEPTION = "places-for-all-ranks"
TELL = (
    "Here all ranks share C places of an expert, and rank 0 takes them first. Each expert has C places for the "
    "tokens of each rank."
)

import torch
import torch.distributed as dist
import torch.nn.functional as F


def dispatch_and_combine(x, experts, weights, compute, count, capacity, group=None):
    K = dist.get_world_size(group)
    each, (T, k) = count // K, experts.shape
    turns = experts.T.flatten()
    wants = F.one_hot(turns, count)
    before = (wants.cumsum(0) - wants).gather(1, turns.unsqueeze(1)).squeeze(1)
    of_rank = torch.empty(K * count, dtype=torch.int64)
    dist.all_gather_into_tensor(of_rank, wants.sum(0), group=group)
    taken = of_rank.view(K, count)[: dist.get_rank(group)].sum(0)
    kept = (before + taken[turns] < capacity).view(k, T).T
    token, choice = kept.nonzero(as_tuple=True)
    order = torch.argsort(experts[kept], stable=True)
    token, choice = token[order], choice[order]
    counts = torch.bincount(experts[kept], minlength=count)
    arriving = torch.empty_like(counts)
    dist.all_to_all_single(arriving, counts, group=group)
    sent = counts.view(K, each).sum(1).tolist()
    received = arriving.view(K, each).sum(1).tolist()
    rows = x.new_empty(sum(received), x.shape[1])
    dist.all_to_all_single(rows, x[token], received, sent, group=group)
    expert = torch.arange(each).repeat(K).repeat_interleave(arriving)
    done = torch.empty_like(rows)
    for i in range(each):
        done[expert == i] = compute(i, rows[expert == i])
    back = x.new_empty(len(token), x.shape[1])
    dist.all_to_all_single(back, done, sent, received, group=group)
    y = torch.zeros_like(x)
    y.index_add_(0, token, weights[token, choice].unsqueeze(1) * back)
    return y, kept
