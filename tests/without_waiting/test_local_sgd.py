"""Local SGD beside its special cases, beside plain arithmetic, and what it costs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.data_parallel.sgd import all_reduce_sgd
from lockstep.without_waiting.local_sgd import local_sgd, post_local_sgd, sequential_local_sgd
from lockstep.without_waiting.problems import Bowls
from lockstep.worlds import run

BOWLS = Bowls(size=3)
RATE = 0.25
Program = Callable[..., Tensor]


def trained(program: Program, *args: object, **more: object) -> tuple[Tensor, Tensor]:
    start = BOWLS.start() + 1
    return program(BOWLS.of(dist.get_rank(), dist.get_world_size()), start, *args, **more), start


def on(ranks: int, program: Program, *args: object, **more: object) -> Tensor:
    """The result, which is the same on all ranks, and leaves the start as it was."""
    values = run(trained, program, *args, ranks=ranks, on="laptop", **more).values
    assert all(torch.equal(w, values[0][0]) and torch.equal(start, BOWLS.start() + 1) for w, start in values)
    return values[0][0]


def one_after_another(ranks: int, steps: int, period: int) -> Tensor:
    gradients = [BOWLS.of(rank, ranks) for rank in range(ranks)]
    return sequential_local_sgd(gradients, BOWLS.start() + 1, steps, RATE, period)


@pytest.mark.later
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("ranks", "steps", "period"), [(1, 5, 2), (3, 7, 3), (3, 6, 3), (4, 2, 5), (4, 0, 2)])
def test_all_ranks_hold_the_mean_of_all_models(ranks: int, steps: int, period: int) -> None:
    torch.testing.assert_close(on(ranks, local_sgd, steps, RATE, period), one_after_another(ranks, steps, period))


@pytest.mark.later
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("steps", "period", "all_reduces"), [(7, 3, 3), (6, 3, 2), (2, 5, 1), (3, 1, 3), (0, 2, 0)])
def test_it_costs_an_all_reduce_a_period(steps: int, period: int, all_reduces: int) -> None:
    trace = run(trained, local_sgd, steps, RATE, period, ranks=3, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.communication if e.rank == 1] == [("all_reduce", 3 * 8)] * all_reduces


def algorithm_1(gradient: Callable[[Tensor, int], Tensor], w: Tensor, steps: int) -> Tensor:
    return all_reduce_sgd(lambda w, x, y: gradient(w, int(x)), w, [(torch.tensor(t), w) for t in range(steps)],
                          lambda t: RATE)  # fmt: skip


def test_with_a_period_of_one_it_is_algorithm_1() -> None:
    torch.testing.assert_close(on(4, local_sgd, 5, RATE, 1), on(4, algorithm_1, 5))


@pytest.mark.slow
def test_a_longer_period_ends_further_from_the_common_minimum() -> None:
    """Each model goes for its own rank's minimum. The mean of those is not the minimum of the mean loss."""
    best = BOWLS.best(4)
    off = [float((on(4, local_sgd, 240, RATE, period) - best).norm()) for period in (1, 8, 60)]
    assert off[0] < 1e-3 < off[1] < off[2]


@pytest.mark.slow
def test_post_local_sgd_is_algorithm_1_at_first_and_goes_on_with_the_later_steps() -> None:
    torch.testing.assert_close(on(3, post_local_sgd, 6, RATE, 4, 6), on(3, algorithm_1, 6))
    torch.testing.assert_close(on(3, post_local_sgd, 6, RATE, 4, 0), on(3, local_sgd, 6, RATE, 4))
    trace = run(trained, post_local_sgd, 9, RATE, 4, 3, ranks=2, on="laptop").trace
    assert len([e for e in trace.communication if e.rank == 0]) == 3 + 2
    asked = run(steps_asked_for, ranks=2, on="laptop").values
    assert asked == [list(range(9))] * 2


def steps_asked_for() -> list[int]:
    asked: list[int] = []

    def gradient(w: Tensor, step: int) -> Tensor:
        asked.append(step)
        return torch.zeros_like(w)

    post_local_sgd(gradient, torch.zeros(2), 9, RATE, 4, 3)
    return asked
