"""The learner thought: weights of a mean add up to 1; where a row does not, I divide by its sum."""

import torch
import torch.distributed as dist

MISCONCEPTION = "normalises-rows"
TELL = "You divide by the sum of your row of mixing. Take the weights as they stand: rows need not sum to 1."


def gossip_step(x, mixing, group=None):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x, weights = x.contiguous(), mixing.tolist()
    arrived = {j: torch.empty_like(x) for j in range(size) if j != rank and weights[rank][j]}
    works = [dist.isend(x, group=group, group_dst=i) for i in range(size) if i != rank and weights[i][rank]]
    works += [dist.irecv(theirs, group=group, group_src=j) for j, theirs in arrived.items()]
    for work in works:
        work.wait()
    total = weights[rank][rank] * x
    for j, theirs in arrived.items():
        total = total + weights[rank][j] * theirs
    return total / sum(weights[rank])
