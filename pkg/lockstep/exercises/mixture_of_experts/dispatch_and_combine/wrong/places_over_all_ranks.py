"""The learner thought: K ranks have K·C places of each expert, and all tokens queue for these together."""

MISCONCEPTION = "places-over-all-ranks"
TELL = (
    "You count the choices of all ranks in one queue. Each expert has C places for the tokens of each rank: a "
    "rank counts its own choices only, and asks nobody."
)

import torch
import torch.distributed as dist
import torch.nn.functional as F


def dispatch_and_combine(x, experts, weights, compute, count, capacity, group=None):
    K = dist.get_world_size(group)
    each, (T, k) = count // K, experts.shape
    sizes = torch.empty(K, dtype=torch.int64)
    dist.all_gather_into_tensor(sizes, torch.tensor([T]), group=group)
    padded = torch.full((int(sizes.max()), k), -1)
    padded[:T] = experts
    everyone = torch.empty(K * len(padded), k, dtype=torch.int64)
    dist.all_gather_into_tensor(everyone, padded, group=group)
    turns = everyone.view(K, -1, k).permute(2, 0, 1).flatten()
    wants = F.one_hot(turns + 1, count + 1)[:, 1:]
    before = (wants.cumsum(0) - wants).gather(1, turns.clamp(min=0).unsqueeze(1)).view(k, K, -1)
    kept = (before[:, dist.get_rank(group), :T] < K * capacity).T
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
