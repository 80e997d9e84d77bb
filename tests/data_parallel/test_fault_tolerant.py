"""A step that survives: groups that have the same number of steps have the same weights, whatever happened."""

from __future__ import annotations

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.data_parallel.fault_tolerant import fault_tolerant_step

RATE = 0.5


def step(weights: list[float], steps: list[int], fails: tuple[int, ...] = (), against: tuple[int, ...] = ()):  # type: ignore[no-untyped-def]
    """What each rank has after one step. The gradient at w is w minus the rank."""

    def on_rank() -> tuple[float, int]:
        rank = dist.get_rank()

        def all_reduce(tensor: torch.Tensor) -> None:
            dist.all_reduce(tensor)
            if rank in fails:
                tensor.fill_(torch.nan)
                raise RuntimeError("closed")

        w = torch.tensor([weights[rank]])
        new, made = fault_tolerant_step(
            w, lambda w: w - rank, RATE, steps, all_reduce, lambda well: well and rank not in against
        )
        assert w.item() == weights[rank] or w.isnan().all()
        return new.item(), made

    return run(on_rank, ranks=len(steps), on="virtual").values


def test_all_are_up_to_date() -> None:
    assert step([4.0, 4.0, 4.0], [7, 7, 7]) == [(4 - RATE * 3, 8)] * 3


def test_one_that_comes_back_adds_nothing_and_takes_the_step() -> None:
    assert step([4.0, float("nan"), 4.0], [7, 0, 7]) == [(4 - RATE * 3, 8)] * 3


def test_a_group_that_discards_what_others_keep_is_behind_and_heals_in_the_next_step() -> None:
    values = step([4.0, 4.0, 4.0], [7, 7, 7], fails=(2,))
    assert values == [(2.5, 8), (2.5, 8), (4.0, 7)]
    again = step([w for w, _ in values], [made for _, made in values])
    assert again == [(2.5 - RATE * 2, 9)] * 3


def test_what_healing_brought_stays_where_the_step_is_discarded() -> None:
    assert step([4.0, float("nan")], [7, 2], against=(1,)) == [(2.0, 8), (4.0, 7)]


def test_one_rank_whose_sum_fails_keeps_its_weights() -> None:
    assert step([4.0], [7], fails=(0,)) == [(4.0, 7)]
