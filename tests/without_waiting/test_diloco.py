"""DiLoCo beside local SGD, beside torch's optimizers, beside plain arithmetic, and what it costs."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.diloco import AdamW, diloco, sequential_diloco
from lockstep.without_waiting.local_sgd import local_sgd
from lockstep.without_waiting.problems import Bowls
from lockstep.worlds import run

BOWLS = Bowls(size=3)
RATE = 0.25


def trained(program, *args: object) -> tuple[Tensor, Tensor]:
    start = BOWLS.start() + 1
    return program(BOWLS.of(dist.get_rank(), dist.get_world_size()), start, *args), start


def on(ranks: int, program, *args: object) -> Tensor:
    """The result, which is the same on all ranks, and leaves the start as it was."""
    values = run(trained, program, *args, ranks=ranks, on="laptop").values
    assert all(torch.equal(w, values[0][0]) and torch.equal(start, BOWLS.start() + 1) for w, start in values)
    return values[0][0]


@pytest.mark.parametrize(("ranks", "steps", "period", "momentum"), [(1, 5, 2, 0.9), (3, 7, 3, 0.9), (4, 2, 5, 0.0)])
def test_all_ranks_hold_what_the_models_give_one_after_another(
    ranks: int, steps: int, period: int, momentum: float
) -> None:
    settings = (steps, RATE, period, 0.7, momentum)
    alone = sequential_diloco([BOWLS.of(rank, ranks) for rank in range(ranks)], BOWLS.start() + 1, *settings)
    torch.testing.assert_close(on(ranks, diloco, *settings), alone)


def test_without_momentum_it_is_local_sgd() -> None:
    torch.testing.assert_close(on(3, diloco, 7, RATE, 3, 1.0, 0.0), on(3, local_sgd, 7, RATE, 3))


@pytest.mark.parametrize(("steps", "period", "all_reduces"), [(7, 3, 3), (2, 5, 1), (0, 2, 0)])
def test_it_costs_an_all_reduce_a_round(steps: int, period: int, all_reduces: int) -> None:
    trace = run(trained, diloco, steps, RATE, period, 0.7, 0.9, ranks=3, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.communication if e.rank == 1] == [("all_reduce", 3 * 8)] * all_reduces


def torchs(inner: type[torch.optim.Optimizer], rate: float) -> Tensor:
    """Both optimizers are torch's. The inner one keeps its moments from round to round."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    w = (BOWLS.start() + 1).requires_grad_()
    outer = torch.optim.SGD([w], lr=0.7, momentum=0.9, nesterov=True)
    own = w.detach().clone().requires_grad_()
    steps = inner([own], lr=rate)
    for begin in range(0, 12, 3):
        own.data.copy_(w.data)
        for step in range(begin, begin + 3):
            own.grad = BOWLS.gradient(own.detach(), rank, ranks, step)
            steps.step()
        w.grad = w.detach() - own.detach()
        dist.all_reduce(w.grad)
        w.grad /= ranks
        outer.step()
    return w.detach()


def by_adamw() -> Tensor:
    gradient = AdamW(BOWLS.of(dist.get_rank(), dist.get_world_size()))
    return diloco(gradient, BOWLS.start() + 1, 12, 0.1, 3, 0.7, 0.9)


def test_its_outer_step_is_torchs_nesterov_momentum() -> None:
    theirs = run(torchs, torch.optim.SGD, RATE, ranks=3, on="laptop").values[0]
    torch.testing.assert_close(on(3, diloco, 12, RATE, 3, 0.7, 0.9), theirs)


def test_with_adamw_as_in_the_paper_its_inner_steps_are_torchs_and_keep_their_moments() -> None:
    ours, theirs = (run(*of, ranks=3, on="laptop").values[0] for of in ((by_adamw,), (torchs, torch.optim.AdamW, 0.1)))
    torch.testing.assert_close(ours, theirs)
