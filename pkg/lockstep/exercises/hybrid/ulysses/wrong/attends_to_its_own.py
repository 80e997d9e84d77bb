"""The learner thought: each rank attends to its positions."""

MISCONCEPTION = "wrong-values"
TELL = "Each rank attends to its own positions alone. It also needs the keys and values of the positions before them."

import torch
import torch.distributed as dist


def ulysses(q, k, v, attend, lengths, group=None):
    return attend(q, k, v)
