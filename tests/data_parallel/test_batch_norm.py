"""Synchronised batch norm beside torch's own on the whole batch."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.data_parallel.batch_norm import SyncBatchNorm, sync_batch_norm, synchronised
from lockstep.data_parallel.sgd import training_step
from lockstep.models import batch_normed
from lockstep.worlds import run

EPS = 1e-5
X = torch.randn(13, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 + 1


def share(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    return x.split(sizes)[dist.get_rank()]


def normalised(sizes: tuple[int, ...]) -> Tensor:
    return sync_batch_norm(share(X, sizes), EPS)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize("sizes", [(13,), (5, 0, 8)])
def test_forward_is_that_of_the_whole_batch(sizes: tuple[int, ...], on: str) -> None:
    held = torch.cat(run(normalised, sizes, ranks=len(sizes), on=on).values)
    torch.testing.assert_close(held, F.batch_norm(X, None, None, training=True, eps=EPS), rtol=1e-12, atol=1e-12)


def trained(sizes: tuple[int, ...]) -> tuple[list[Tensor], Tensor]:
    """All parameters and statistics after two steps, and what the trained model then gives for one example."""
    model = synchronised(batch_normed([3, 4, 2], dtype=torch.float64)) if sizes else batch_normed([3, 4, 2], 0, X.dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    y = X[:, :2].square()
    for _ in range(2):
        if sizes:
            training_step(model, optimizer, F.mse_loss, share(X, sizes), share(y, sizes))
        else:
            optimizer.zero_grad()
            F.mse_loss(model(X), y).backward()
            optimizer.step()
    model.eval()
    return [value.detach().double() for value in model.state_dict().values()], model(X[:1]).detach()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sizes", [(13,), (4, 9), (1, 5, 2, 5)])
def test_training_is_that_of_the_whole_batch(sizes: tuple[int, ...]) -> None:
    whole, answer = trained(())
    names = list(batch_normed([3, 4, 2]).state_dict())
    for state, output in run(trained, sizes, ranks=len(sizes), on="laptop").values:
        for name, mine, wanted in zip(names, state, whole, strict=True):
            torch.testing.assert_close(mine, wanted, rtol=1e-11, atol=1e-12, msg=name)
        torch.testing.assert_close(output, answer, rtol=1e-11, atol=1e-12)


def costs() -> None:
    layer = SyncBatchNorm(nn.BatchNorm1d(3))
    layer(torch.ones(2, 3, requires_grad=True)).sum().backward()


def test_it_costs_one_all_reduce_forward_and_one_backward() -> None:
    trace = run(costs, ranks=2, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.of_rank(1) if e.kind != "compute"] == [
        ("all_reduce", 7 * 4),
        ("all_reduce", 6 * 4),
    ]
