"""DTensor and parallelize_module: results and gradients of the one-rank run, in both worlds alike.

On CPU tensors DTensor redistributes as it needs the result: traces show no overlap with the computation.
"""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from both_worlds import both, gradients, same, virtual
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

MICRO = 3


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 6))


def batch():
    return torch.randn(12, 8, generator=torch.Generator().manual_seed(1))


def accumulate(model, x):
    for part in x.chunk(MICRO):
        (model(part).square().mean() / MICRO).backward()
    return gradients(model)


def mesh():
    return dist.init_device_mesh("cpu", (dist.get_world_size(),))


@pytest.mark.slow
def test_columns_then_rows():
    def use():
        plan = {"0": ColwiseParallel(), "2": RowwiseParallel(), "4": ColwiseParallel(output_layouts=Replicate())}
        return accumulate(parallelize_module(network(), mesh(), plan), batch())

    for value in both(use, ranks=2):
        same(value, accumulate(network(), batch()))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.norm = nn.Embedding(16, 8), nn.LayerNorm(8)
        self.up, self.down, self.head = nn.Linear(8, 12), nn.Linear(12, 8), nn.Linear(8, 16, bias=False)

    def forward(self, tokens):  # (batch, seq) → (batch, seq, vocabulary)
        x = self.embed(tokens)
        return self.head(x + self.down(torch.relu(self.up(self.norm(x)))))


PLAN = {
    "embed": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
    "norm": SequenceParallel(),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1)),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
}


def tokens():
    generator = torch.Generator().manual_seed(2)
    return torch.randint(0, 16, (2, 8), generator=generator), torch.randint(0, 16, (16,), generator=generator)


def cross_entropy(model):
    x, target = tokens()
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), target)
    loss.backward()
    return loss.detach()


@pytest.mark.slow
def test_sequence_parallel_and_a_loss_on_the_cut_vocabulary():
    def use():
        model = parallelize_module(Block(), mesh(), PLAN)
        with loss_parallel():
            loss = cross_entropy(model)
        return loss.full_tensor(), gradients(model)

    model = Block()
    loss = cross_entropy(model)
    for value in both(use, ranks=2):
        same(value, (loss, gradients(model)))


def test_the_first_rank_to_leave_loss_parallel_leaves_it_to_the_others():
    """torch keeps its handlers in one table of the process; the ranks of the virtual cluster share that process."""

    def use():
        model = parallelize_module(Block(), mesh(), PLAN)
        for _ in range(2):
            with loss_parallel():
                cross_entropy(model)
            if dist.get_rank():
                torch.zeros(10**6).sum()
        return True

    assert virtual(use, ranks=2).values == [True, True]


@pytest.mark.slow
def test_two_dimensions_tensor_parallel_within_data_parallel():
    def use():
        mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
        model = parallelize_module(network(), mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
        for layer in (model[0], model[2], model[4]):
            fully_shard(layer, mesh=mesh["data"])
        x = batch().chunk(2)[mesh.get_local_rank("data")]
        return accumulate(fully_shard(model, mesh=mesh["data"]), x)

    for value in both(use, ranks=4):
        same(value, accumulate(network(), batch()))


@pytest.mark.slow
def test_tensors_that_are_cut_copied_and_partial():
    a, b, uneven = torch.arange(24.0).view(6, 4), torch.arange(20.0).view(4, 5), torch.arange(10.0).view(5, 2)

    def use():
        m = mesh()
        rows, columns = distribute_tensor(a, m, [Shard(0)]), distribute_tensor(b, m, [Shard(1)])
        turned = rows.redistribute(m, [Shard(1)])
        rows.requires_grad_()
        (rows @ columns).sum().backward()
        cut = distribute_tensor(uneven, m, [Shard(0)])
        partial = DTensor.from_local(torch.full((2, 2), dist.get_rank() + 1.0), m, [Partial()])
        wholes = [
            rows.detach() @ columns,
            turned @ columns.redistribute(m, [Shard(0)]),
            turned.softmax(-1),
            turned.mean(0),
            rows.detach().max(),
            rows.grad,
            cut,
            cut.redistribute(m, [Shard(1)]),
            partial,
            partial.redistribute(m, [Shard(0)]),
        ]
        return [w.full_tensor() for w in wholes]

    summed = torch.full((2, 2), 6.0)
    grad = b.sum(1).expand(6, 4)
    wanted = [a @ b, a @ b, a.softmax(-1), a.mean(0), a.max(), grad, uneven, uneven, summed, summed]
    for value in both(use, ranks=3):
        same(value, wanted)
