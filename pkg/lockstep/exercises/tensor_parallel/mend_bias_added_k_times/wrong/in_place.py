"""The learner thought: an all-reduce is an all-reduce."""

import torch
import torch.distributed as dist

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

MISCONCEPTION = "all-reduce-unknown-to-autograd"
TELL = "dist.all_reduce changes the sum where autograd doesn't look, so it is luck if gradients are right. reduce_from_region is the all-reduce that autograd knows."


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    y = (x @ B.tensor_split(K)[r]).detach()
    dist.all_reduce(y, group=group)
    return y + b
