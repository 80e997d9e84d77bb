"""The learner thought: everybody has all the filters."""

import torch.distributed as dist
from torch.nn import functional as F

MISCONCEPTION = "computes-all-filters"
TELL = "Every rank computes with all filters. The result is right, and K ranks take as long as one: each should compute with its own."


def parallel_conv2d(x, V, v, W, w, group=None):
    return F.conv2d(F.conv2d(x, V, v, padding=1).relu(), W, w, padding=1)
