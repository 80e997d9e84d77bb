"""Who is where in the grid (data, pipeline, tensor). One manager per process."""

import torch
import torch.distributed as dist

process_groups = None


class ProcessGroups:
    def __init__(self, dp_size, pp_size, tp_size):
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        assert self.world_size == dp_size * pp_size * tp_size
        self.grid = torch.arange(self.world_size).view(dp_size, pp_size, tp_size)
        self.dp_rank, self.pp_rank, self.tp_rank = (self.grid == self.rank).nonzero().flatten().tolist()
        self.dp_size, self.pp_size, self.tp_size = dp_size, pp_size, tp_size

        grid = self.grid
        self.tp_group = dist.new_subgroups_by_enumeration(grid.reshape(-1, tp_size).tolist())[0]
        self.pp_group = dist.new_subgroups_by_enumeration(grid.permute(0, 2, 1).reshape(-1, pp_size).tolist())[0]
        self.dp_group = dist.new_subgroups_by_enumeration(grid.permute(1, 2, 0).reshape(-1, dp_size).tolist())[0]

        line = grid[self.dp_rank, :, self.tp_rank].tolist()
        self.is_first_stage, self.is_last_stage = self.pp_rank == 0, self.pp_rank == pp_size - 1
        self.previous = None if self.is_first_stage else line[self.pp_rank - 1]
        self.next = None if self.is_last_stage else line[self.pp_rank + 1]


def setup(dp_size, pp_size, tp_size):
    global process_groups
    process_groups = ProcessGroups(dp_size, pp_size, tp_size)
