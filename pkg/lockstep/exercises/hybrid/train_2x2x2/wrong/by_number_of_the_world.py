"""The learner thought: the next stage is the next rank."""

MISCONCEPTION = "crashed:Deadlock"
ALSO = ["crashed:Mismatch"]

import torch
import torch.distributed as dist


def train_2x2x2(A, B, rows, inputs, targets, count, groups):
    stage, stages = dist.get_rank(groups["pp"]), dist.get_world_size(groups["pp"])
    kept = []
    for i, n in enumerate(rows):
        x = inputs[i] if stage == 0 else A.new_empty(n, len(A))
        if stage > 0:
            dist.recv(x, src=dist.get_rank() - 1)
        z = x @ A
        more = z.relu() @ B
        dist.all_reduce(more, group=groups["tp"])
        y = x + more
        if stage < stages - 1:
            dist.send(y, dst=dist.get_rank() + 1)
        kept.append((x, z, y))
    dA, dB = torch.zeros_like(A), torch.zeros_like(B)
    for i, (x, z, y) in enumerate(kept):
        if stage == stages - 1:
            g = 2 * (y - targets[i]) / count
        else:
            g = torch.empty_like(y)
            dist.recv(g, src=dist.get_rank() + 1)
        dB += z.relu().T @ g
        dz = (g @ B.T) * (z > 0)
        dA += x.T @ dz
        if stage > 0:
            dx = dz @ A.T
            dist.all_reduce(dx, group=groups["tp"])
            dist.send(g + dx, dst=dist.get_rank() - 1)
    for gradient in (dA, dB):
        dist.all_reduce(gradient, group=groups["dp"])
    return [dA, dB]
