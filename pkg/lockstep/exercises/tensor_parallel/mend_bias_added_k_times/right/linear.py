"""torch's linear layer, with the rows by hand."""

import torch.distributed as dist
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region


def mend_bias_added_k_times(x, B, b, group=None):
    K, r = dist.get_world_size(group), dist.get_rank(group)
    each, more = divmod(len(B), K)
    first = r * each + min(r, more)
    return reduce_from_region(F.linear(x, B[first : first + x.shape[1]].T), group).add(b)
