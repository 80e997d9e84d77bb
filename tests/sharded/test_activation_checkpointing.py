"""Activations that are computed again: the same gradients, torch's peak, and the formula's."""

from __future__ import annotations

import math

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep import run
from lockstep.data_parallel.ddp import BucketedDDP
from lockstep.experiments.fsdp.recomputed import by_torch, recomputed_table, step
from lockstep.models import linear, mlp
from lockstep.sharded.activation_checkpointing import alive_at_peak, best_segments, checkpoint, in_segments


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("L", "S"), [(9, 1), (9, 3), (9, 9), (10, 4)])
def test_gradients_peak_and_work_are_torchs(L: int, S: int) -> None:
    plain, ours = step(in_segments, L, 1), step(in_segments, L, S)
    assert torch.equal(ours.gradients, plain.gradients)
    if L % S == 0:  # else torch's last segment is the longer one
        torchs = step(by_torch, L, S)
        assert (ours.alive, ours.work) == (torchs.alive, torchs.work)
    assert ours.alive == pytest.approx(alive_at_peak(L, S) + 1, abs=0.01), "and the loss's squares"
    again = sum((s + 1) * L // S - s * L // S for s in range(S - 1))
    assert ours.work == pytest.approx(plain.work + again / L)


def test_the_root_is_best() -> None:
    assert [best_segments(L) for L in (1, 4, 9, 16, 100)] == [1, 2, 3, 4, 10]
    for L in range(1, 60):
        assert alive_at_peak(L, best_segments(L)) <= 2 * math.sqrt(L) + 1


def test_dropout_drops_the_same_again() -> None:
    assert torch.equal(step(in_segments, 4, 1, dropout=0.5).gradients, step(in_segments, 4, 4, dropout=0.5).gradients)


def drawn_afterwards() -> tuple[float, float]:
    found = []
    for S in (1, 3):
        torch.manual_seed(5)
        layers = [nn.Sequential(linear(4, 4, 0, i), nn.Dropout(0.5)) for i in range(3)]
        in_segments(layers, S, torch.ones(8, 4)).sum().backward()
        found.append(torch.rand(()).item())
    return found[0], found[1]


def test_the_program_draws_on_as_if_nothing_had_been_computed_again() -> None:
    for plain, again in run(drawn_afterwards, ranks=2, on="dgx-a100").values:
        assert plain == again


def of_inputs_and_others() -> list[tuple[Tensor, ...]]:
    found = []
    for call in (lambda f, *x, parameters: f(*x), checkpoint):
        a, b, c = (torch.arange(1.0, 4.0) + i for i in range(3))
        a.requires_grad_()
        c.requires_grad_()
        unused = torch.ones(3, requires_grad=True)
        call(lambda a, b, u, c=c: (a * b * c).exp().log1p(), a, b, unused, parameters=[c]).sum().backward()
        found.append((a.grad, c.grad))
        assert b.grad is None
        assert unused.grad is None
    return found


def test_several_inputs_and_a_tensor_besides() -> None:
    plain, again = of_inputs_and_others()
    for x, y in zip(plain, again, strict=True):
        assert torch.equal(x, y)


def in_ddp() -> tuple[list[Tensor], list[Tensor], int]:
    """A first segment whose input needs no gradient, in DDP."""

    class Recomputed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = mlp([6, 6, 6, 3])

        def forward(self, x: Tensor) -> Tensor:
            return in_segments(list(self.layers), 3, x)

    x = torch.full((2, 6), 1.0 + dist.get_rank())
    model, plain = Recomputed(), mlp([6, 6, 6, 3])
    BucketedDDP(model, 100)(x).square().mean().backward()
    BucketedDDP(plain, 100)(x).square().mean().backward()
    return [p.grad for p in model.parameters()], [p.grad for p in plain.parameters()], len(list(plain))


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_gradients_are_complete_once_and_travel_once(on: str) -> None:
    """torch's re-entrant form sends them twice, and forgets a first segment whose input needs no gradient."""
    result = run(in_ddp, ranks=2, on=on)
    for ours, plain, _ in result.values:
        assert all(torch.equal(a, b) for a, b in zip(ours, plain, strict=True))
    sent = [e.nbytes for e in result.trace.of_rank(0) if e.kind == "all_reduce"]
    assert sent[: len(sent) // 2] == sent[len(sent) // 2 :]


def test_without_gradients_nothing_is_kept() -> None:
    with torch.no_grad():
        assert not checkpoint(F.relu, torch.ones(2)).requires_grad


@pytest.mark.slow
def test_the_table() -> None:
    table = recomputed_table(9)
    assert [row[0] for row in table.rows] == ["1", "3", "9"]
    assert all(row[-1] == "the same bits" for row in table.rows)
