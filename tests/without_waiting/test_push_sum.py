"""Push-sum on one-way links: exact beside the fractions, and right where plain gossip is not."""

from fractions import Fraction

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.push_sum import (
    ONE_WAY,
    Links,
    means,
    one_way,
    one_way_table,
    push_sum,
    shares,
    stochastic_gradient_push,
)
from lockstep.worlds import run


def estimates(sends_to: Links, rounds: int) -> list[Fraction]:
    """value/weight of each rank, that begins with its number + 1, without rounding."""
    K = len(sends_to)
    rows = [[Fraction(r + 1), Fraction(1)] for r in range(K)]
    for _ in range(rounds):
        split = [[v / (len(sends_to[r]) + 1) for v in rows[r]] for r in range(K)]
        heard = [[r, *(j for j in range(K) if r in sends_to[j])] for r in range(K)]
        rows = [[sum((split[j][n] for j in heard[r]), Fraction(0)) for n in (0, 1)] for r in range(K)]
    return [value / weight for value, weight in rows]


def program(sends_to: Links, rounds: int) -> Tensor:
    x = torch.full((2, 3), dist.get_rank() + 1.0, dtype=torch.float64).t()
    found = push_sum(x, sends_to, rounds)
    assert x.eq(dist.get_rank() + 1.0).all()
    return found


@pytest.mark.sampled(7)
@pytest.mark.parametrize("on", ["laptop", "processes"])
@pytest.mark.parametrize(
    ("sends_to", "rounds"), [(((),), 2), (((1,), (0,)), 1), (ONE_WAY, 0), (ONE_WAY, 3), (((1, 2), (2,), (0,)), 5)]
)
def test_push_sum_beside_fractions(sends_to: Links, rounds: int, on: str) -> None:
    result = run(program, sends_to, rounds, ranks=len(sends_to), on=on)
    for held, want in zip(result.values, estimates(sends_to, rounds), strict=True):
        assert held.shape == (3, 2)
        assert torch.allclose(held, torch.tensor(float(want), dtype=torch.float64), rtol=1e-14)
    sends = result.trace.of_kind("send")
    assert len(sends) == rounds * sum(map(len, sends_to))
    assert {e.nbytes for e in sends} <= {7 * 8}


def test_columns_of_the_shares_and_rows_of_the_means_sum_to_1() -> None:
    assert shares(ONE_WAY).sum(0).tolist() == pytest.approx([1.0] * 4)
    assert means(ONE_WAY).sum(1).tolist() == pytest.approx([1.0] * 4)


def test_only_push_sum_ends_at_the_mean() -> None:
    held = one_way(rounds=60)
    assert held["push-sum"] == pytest.approx([2.5] * 4)
    assert held["rows sum to 1"] == pytest.approx([held["rows sum to 1"][0]] * 4)
    assert abs(held["rows sum to 1"][0] - 2.5) > 0.1
    assert sum(held["columns sum to 1"]) == pytest.approx(10)
    assert min(abs(x - 2.5) for x in held["columns sum to 1"]) > 0.1


def test_the_table_says_the_same() -> None:
    by_name = {row[0]: row[1:] for row in one_way_table(rounds=40).rows}
    assert by_name["push-sum"] == ["2.5000"] * 4 + ["10.0000", "2.5000"]
    assert len(set(by_name["rows sum to 1"][:4])) == 1


def trained(steps: int) -> Tensor:
    rank = dist.get_rank()
    return stochastic_gradient_push(lambda w, step: w - rank, torch.zeros(2).double(), steps, 0.05, ONE_WAY)


@pytest.mark.slow
def test_stochastic_gradient_push_ends_near_the_minimum_of_the_mean() -> None:
    """The mean of (w - r)²/2 over the ranks 0 ... 3 is least at 1.5, however the links weigh the ranks."""
    held = torch.stack(list(run(trained, 120, ranks=4, on="laptop").values))
    assert (held.mean(0) - 1.5).abs().max() < 0.1
    assert (held - 1.5).abs().max() < 0.3
