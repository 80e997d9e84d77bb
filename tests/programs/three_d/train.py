"""torchrun --nproc-per-node 8 -m three_d.train"""

import os

import torch
import torch.distributed as dist
from torch import nn

from three_d import data_parallel, pipeline_parallel, topology
from three_d.tensor_parallel import Block

LAYERS, WIDTH, HIDDEN = 4, 8, 16
BATCH, MICRO_BATCHES = 16, 2


def weights_of(layer):
    generator = torch.Generator().manual_seed(layer)
    up = torch.randn(HIDDEN, WIDTH, generator=generator) / WIDTH
    return up, torch.randn(WIDTH, HIDDEN, generator=generator) / HIDDEN


def batch():
    generator = torch.Generator().manual_seed(1234)
    return torch.randn(BATCH, WIDTH, generator=generator), torch.randn(BATCH, WIDTH, generator=generator)


def main(dp_size=2, pp_size=2, tp_size=2, backend="gloo"):
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    print(f"rank {rank} of {world_size}, at {os.environ['MASTER_ADDR']}")
    dist.init_process_group(backend, init_method="env://", rank=rank, world_size=world_size)
    assert dist.get_backend() == backend
    topology.setup(dp_size, pp_size, tp_size)
    groups = topology.process_groups

    mine = range(LAYERS)[groups.pp_rank * LAYERS // pp_size : (groups.pp_rank + 1) * LAYERS // pp_size]
    stage = nn.Sequential(*[Block(weights_of(layer)) for layer in mine])
    x, target = (t.chunk(dp_size)[groups.dp_rank] for t in batch())
    micro_batches = list(zip(x.chunk(MICRO_BATCHES), target.chunk(MICRO_BATCHES), strict=True))
    loss = pipeline_parallel.train_step(stage, nn.functional.mse_loss, micro_batches)
    data_parallel.average_gradients(stage)

    total = torch.tensor(loss)
    if groups.is_last_stage:
        dist.all_reduce(total, group=groups.dp_group)
        total /= dp_size
    dist.broadcast(total, world_size - 1)
    gradients = {layer: (block.up.grad, block.down.grad) for layer, block in zip(mine, stage, strict=True)}
    dist.destroy_process_group()
    return total.item(), groups.tp_rank, gradients


if __name__ == "__main__":
    print(main()[0])
