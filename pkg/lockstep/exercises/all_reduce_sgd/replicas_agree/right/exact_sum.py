"""One whole number: K times mine is the sum only if all are equal, but for chance; whole numbers do not round."""

import zlib


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    h = 0
    for p in parameters:
        h = zlib.crc32(p.detach().cpu().numpy().tobytes(), h)
    squares = torch.tensor([h, (h & 0xFFFF) ** 2], device=parameters[0].device)
    dist.all_reduce(squares, group=group)
    K = dist.get_world_size(group)
    return squares[0].item() == K * h and squares[1].item() == K * (h & 0xFFFF) ** 2
