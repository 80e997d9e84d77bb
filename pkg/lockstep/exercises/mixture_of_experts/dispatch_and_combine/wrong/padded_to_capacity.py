"""The learner thought: parts of an all-to-all are equal, so each expert gets C rows of each rank."""

MISCONCEPTION = "pads-to-capacity"
TELL = (
    "You send C rows for each expert, filled with zeros where fewer are kept. The parts of an all-to-all may "
    "differ: send the rows that are kept."
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
    e, place = experts[token, choice], before.view(k, T).T[token, choice]
    given = x.new_zeros(count, capacity, x.shape[1])
    given[e, place] = x[token]
    rows, back = torch.empty_like(given), torch.empty_like(given)
    dist.all_to_all_single(rows, given, group=group)
    rows = rows.view(K, each, capacity, -1).transpose(0, 1).flatten(1, 2)
    done = torch.stack([compute(i, rows[i]) for i in range(each)])
    done = done.view(each, K, capacity, -1).transpose(0, 1).contiguous()
    dist.all_to_all_single(back, done, group=group)
    y = torch.zeros_like(x)
    y.index_add_(0, token, weights[token, choice].unsqueeze(1) * back[e, place])
    return y, kept
