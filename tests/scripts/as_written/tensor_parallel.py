"""In the style of pytorch/examples' tensor_parallelism: a block whose MLP is split over ranks, and its norm over rows."""

import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.norm(x))))


def main(args):
    device_type = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
    dist.init_process_group()
    mesh = init_device_mesh(device_type, (dist.get_world_size(),), mesh_dim_names=("tp",))
    torch.manual_seed(0)
    model = Block(32).to(device_type)
    whole = Block(32).to(device_type)
    whole.load_state_dict(model.state_dict())
    if args.sequence_parallel:
        plan = {
            "norm": SequenceParallel(),
            "up": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
            "down": RowwiseParallel(output_layouts=Shard(1)),
        }
        parallelize_module(model, mesh, plan)
        parallelize_module(model.up, mesh, ColwiseParallel())
    else:
        parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optim = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        x = torch.rand(4, 8 * mesh.size(), 32, generator=torch.Generator().manual_seed(step)).to(device_type)
        rows = x.chunk(mesh.size(), dim=1)[mesh.get_local_rank()] if args.sequence_parallel else x
        out = model(rows)
        if step == 0:
            expected = whole(x)
            if args.sequence_parallel:
                expected = expected.chunk(mesh.size(), dim=1)[mesh.get_local_rank()]
            torch.testing.assert_close(out, expected)
        out.sum().backward()
        optim.step()
        optim.zero_grad()
    print(f"{args.steps} steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sequence-parallel", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    main(parser.parse_args())
