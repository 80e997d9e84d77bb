"""Groups that change: who meets whom, that all agree in the end, and what it costs."""

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.without_waiting.grouped import group_of, grouped_all_reduce, grouped_table, held_up, number_of_digits
from lockstep.worlds import run


@pytest.mark.parametrize(("K", "size"), [(1, 2), (8, 2), (9, 3), (16, 4), (16, 16)])
def test_each_step_parts_the_ranks_and_any_two_are_joined_by_a_chain_of_groups(K: int, size: int) -> None:
    reached = {r: {r} for r in range(K)}
    for step in range(number_of_digits(K, size)):
        groups = {tuple(group_of(r, K, size, step)) for r in range(K)}
        assert sorted(r for group in groups for r in group) == list(range(K))
        assert all(r in group_of(r, K, size, step) for r in range(K))
        reached = {r: set().union(*(reached[m] for m in group_of(r, K, size, step))) for r in range(K)}
    assert all(len(ranks) == K for ranks in reached.values())


@pytest.mark.parametrize(("K", "size"), [(6, 2), (8, 4), (2, 1), (2, 3)])
def test_other_numbers_of_ranks_have_no_such_groups(K: int, size: int) -> None:
    with pytest.raises(UsageError):
        group_of(0, K, size, 0)


def program(size: int, rounds: int) -> tuple[Tensor, Tensor]:
    x = torch.tensor([[1.0, dist.get_rank()], [dist.get_rank() ** 2, 8.0]], dtype=torch.float64)
    return grouped_all_reduce(x, size, rounds), x


@pytest.mark.sampled(5)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize(("K", "size", "rounds"), [(1, 2, 3), (4, 2, 2), (4, 4, 1)])
def test_after_log_rounds_all_hold_the_mean(K: int, size: int, rounds: int, on: str) -> None:
    values = run(program, size, rounds, ranks=K, on=on).values
    mean = torch.stack([x for _, x in values]).mean(0)
    assert all(torch.equal(held, mean) for held, _ in values)  # powers of two: nothing is rounded


@pytest.mark.slow
def test_before_that_groups_differ_and_later_rounds_change_nothing() -> None:
    after = [torch.stack([held for held, _ in run(program, 2, n, ranks=8, on="laptop").values]) for n in (2, 3, 4)]
    assert not torch.equal(after[0][0], after[0][-1])
    assert torch.equal(after[1], after[2])


def of_a_group() -> float | None:
    group = dist.new_group([0, 2, 3, 5])
    if dist.get_rank() not in (0, 2, 3, 5):
        return None
    return grouped_all_reduce(torch.tensor([float(dist.get_rank())]), 2, 2, group).item()


def test_it_works_in_a_group_that_is_not_the_world() -> None:
    assert run(of_a_group, ranks=6, on="laptop").values == [2.5, None, 2.5, 2.5, None, 2.5]


def test_a_late_rank_holds_up_its_own_group_only() -> None:
    assert [held_up(4, size) for size in (2, 4)] == [1, 3]


@pytest.mark.slow
def test_the_table_counts_what_the_formulas_say() -> None:
    rows = grouped_table(ranks=4, sizes=(2, 4)).rows
    assert [row[1] for row in rows] == ["2", "1"]
    assert [row[2] for row in rows] == ["0", "0"]
    assert [float(row[3]) for row in rows] == [2 * 1, 2 * 3 / 4]
