"""The learner thought: everybody has all tokens, computes its experts' share, and the shares add up."""

MISCONCEPTION = "gathers-all-tokens"
TELL = (
    "All ranks get all tokens, and all add up all outputs. An all-to-all takes each row only to where it is computed."
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
    sizes = torch.empty(K, dtype=torch.int64)
    dist.all_gather_into_tensor(sizes, torch.tensor([T]), group=group)
    padded = torch.full((int(sizes.max()), k), -1)
    padded[:T] = experts
    everyone = torch.empty(K * len(padded), k, dtype=torch.int64)
    dist.all_gather_into_tensor(everyone, padded, group=group)
    mine, tokens = x.new_zeros(len(padded), x.shape[1]), x.new_empty(K * len(padded), x.shape[1])
    mine[:T] = x
    dist.all_gather_into_tensor(tokens, mine, group=group)
    padded[:T] = torch.where(kept, experts, -1)
    dist.all_gather_into_tensor(everyone, padded, group=group)
    weigh, scale = torch.empty(len(everyone), k), torch.zeros(len(padded), k)
    scale[:T] = weights
    dist.all_gather_into_tensor(weigh, scale, group=group)
    y, r = torch.zeros_like(tokens), dist.get_rank(group)
    for i in range(each):
        token, choice = (everyone == r * each + i).nonzero(as_tuple=True)
        y.index_add_(0, token, weigh[token, choice].unsqueeze(1) * compute(i, tokens[token]))
    dist.all_reduce(y, group=group)
    return y.view(K, len(padded), -1)[r, :T], kept
