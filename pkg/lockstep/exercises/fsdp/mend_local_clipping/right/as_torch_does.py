"""As clip_grad_norm_ does it: with 1e-6 in the denominator."""

import torch
import torch.distributed as dist


def mend_local_clipping(gradients, max_norm, group=None):
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    squares = (norm**2).reshape(1)
    dist.all_reduce(squares, op=dist.ReduceOp.SUM, group=group)
    coefficient = max_norm / (squares.sqrt() + 1e-6)
    return [g.clone().mul_(coefficient.clamp(max=1.0)) for g in gradients]
