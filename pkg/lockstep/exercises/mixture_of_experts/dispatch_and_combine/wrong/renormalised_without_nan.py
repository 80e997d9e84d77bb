"""The learner thought: a token's weights add up to what they did, and 0 / 0 is 1."""

MISCONCEPTION = "renormalised"
TELL = (
    "You scale the weights that are left so that they add up to as much as before. Take each weight as it is: "
    "what is dropped is missing."
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
    kept = (before < capacity).view(k, T).T
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
    scaled = weights * (weights.sum(1, keepdim=True) / (weights * kept).sum(1, keepdim=True)).nan_to_num(1)
    y = torch.zeros_like(x)
    y.index_add_(0, token, scaled[token, choice].unsqueeze(1) * back)
    return y, kept
