"""Groups beside the first one."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def groups():
    mine = torch.full((1,), float(dist.get_rank()))
    everyone = dist.new_group()
    all_of_them, half = mine.clone(), mine.clone()
    dist.all_reduce(all_of_them, group=everyone)
    dist.all_reduce(half, group=init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b")).get_group("b"))
    return [all_of_them.item(), half.item()]
