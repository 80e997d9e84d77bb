"""The learner thought: whoever has the whole gradient knows its norm."""

import torch
import torch.distributed as dist

MISCONCEPTION = "gathers-gradients"
TELL = "All gradients travel to all ranks. Of each rank one number is enough: the sum of its squares."


def mend_local_clipping(gradients, max_norm, group=None):
    own = torch.cat(gradients)
    every = own.new_empty(len(own) * dist.get_world_size(group))
    dist.all_gather_into_tensor(every, own, group=group)
    scale = torch.clamp(max_norm / every.norm(), max=1.0)
    return [g * scale for g in gradients]
