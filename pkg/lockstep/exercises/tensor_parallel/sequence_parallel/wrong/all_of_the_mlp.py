"""The learner thought: positions are what is cut."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "computes-with-all-columns"
TELL = "Each rank computes with all of A and B. What comes out is right, but K ranks compute as much as K models. Gather the positions, and compute with your part of A and B."


def sequence_parallel(x, weight, bias, A, a, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    weight, bias, b = (copy_to_region(p, group) for p in (weight, bias, b))
    A, a, B = (copy_to_region(p, group) for p in (A, a, B))
    return x + F.gelu(F.layer_norm(x, x.shape[-1:], weight, bias) @ A + a) @ B + b
