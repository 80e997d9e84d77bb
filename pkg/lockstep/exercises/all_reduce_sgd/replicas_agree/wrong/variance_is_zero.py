"""The learner thought: all are equal if the variance is 0: sum and sum of squares."""

import hashlib

MISCONCEPTION = "rounded-sums"
TELL = "Sums of such large floats are rounded: the variance of equal numbers may come out as not 0, and that of different ones as 0. MIN and MAX never round."


import torch
import torch.distributed as dist


def replicas_agree(parameters, group=None):
    digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in parameters))
    h = float(int.from_bytes(digest.digest()[:7], "big"))
    sums = torch.tensor([h, h * h], dtype=torch.float64)
    dist.all_reduce(sums, group=group)
    mean, mean_of_squares = (sums / dist.get_world_size(group)).tolist()
    return mean_of_squares - mean * mean == 0
