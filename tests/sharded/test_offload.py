"""Adam's state on the host: the same parameters, the device's peak and the link's bytes by formula."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.models import mlp
from lockstep.sharded.offload import SIZES, AdamOnHost, Host, OffloadedOptimizer, offload_table, trained
from lockstep.sharded.zero import Zero

LARGEST = max(SIZES) ** 2  # numbers of the largest parameter


def put_and_get() -> None:
    host = Host()
    for value in (torch.arange(6.0).view(2, 3), torch.tensor(3), torch.ones(3, dtype=torch.bfloat16)):
        host.put("x", value)
        back = host.get("x")
        assert torch.equal(back, value)
        assert back.dtype == value.dtype
        back += 1
        assert torch.equal(host.get("x"), value), "a new tensor each time"
    assert "x" in host
    assert "y" not in host
    assert (host.down, host.up) == (24 + 8 + 6, 2 * (24 + 8 + 6))


def test_what_is_put_can_be_got() -> None:
    put_and_get()


def held() -> None:
    host = Host()
    for n in range(10):
        host.put(f"{n}", torch.zeros(1000))


def test_the_hosts_memory_is_not_the_devices() -> None:
    assert run(held, ranks=1, on="dgx-a100").memory[0].peak <= 2 * 4000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the state comes", "Adam on the host"])
def test_parameters_peak_and_bytes(name: str) -> None:
    wanted, _, _ = trained("on the device")
    result = run(trained, name, ranks=1, on="dgx-a100")
    found, down, up = result.values[0]
    torch.testing.assert_close(found, wanted, atol=1e-7, rtol=1e-6)
    M, peak = len(found), result.memory[0].peaks["optimizer state"]
    if name == "the state comes":
        assert 2 * 4 * LARGEST <= peak <= 2 * 4 * LARGEST + 16
        assert 8 * M <= down == up <= 8 * M + 4 * 2 * len(SIZES), "and Adam's counters"
    else:
        assert peak == 0
        assert down == up == 4 * M


def momentum() -> tuple[Tensor, Tensor]:
    found = []
    for offloaded in (False, True):
        model = mlp((5, 4, 3))
        make = lambda tensors: torch.optim.SGD(tensors, lr=0.1, momentum=0.9)  # noqa: E731
        parameters = list(model.parameters())
        optimizer = OffloadedOptimizer(make, parameters, Host()) if offloaded else make(parameters)
        for _ in range(3):
            model.zero_grad()
            model(torch.ones(2, 5)).square().mean().backward()
            optimizer.step()
        found.append(torch.cat([p.detach().flatten() for p in parameters]))
    return found[0], found[1]


def test_any_optimizer_can_be_offloaded() -> None:
    assert torch.equal(*momentum())


def sharded(host_computes: bool) -> tuple[Tensor, int]:
    model, host = mlp(SIZES), Host()

    def optimizer(tensors: list[Tensor]) -> AdamOnHost | OffloadedOptimizer:
        return AdamOnHost(tensors, host) if host_computes else OffloadedOptimizer(torch.optim.Adam, tensors, host)

    zero = Zero(model, optimizer, stage=2, bucket_bytes=1)
    x = torch.linspace(-1, 1, 8 * SIZES[0]).view(8, -1).chunk(dist.get_world_size())[dist.get_rank()]
    for _ in range(3):
        zero.zero_grad()
        zero(x).square().mean().backward()
        zero.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()]), host.up


@pytest.mark.slow
@pytest.mark.parametrize("host_computes", [False, True])
def test_each_rank_offloads_its_shards(host_computes: bool) -> None:
    wanted, _, _ = trained("on the device")
    result = run(sharded, host_computes, ranks=4, on="dgx-a100")
    for found, up in result.values:
        torch.testing.assert_close(found, wanted, atol=1e-6, rtol=1e-4)
        assert up <= 3 * 8 * len(found) / 4 + 100
    assert result.memory[0].peaks["optimizer state"] <= 2 * 4 * LARGEST / 4 + 16


def test_the_table() -> None:
    assert [row[0] for row in offload_table().rows] == ["on the device", "the state comes", "Adam on the host"]
