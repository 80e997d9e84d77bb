"""The rules, what they do to the digits, and Goyal's rows as they are printed."""

from __future__ import annotations

import pytest
import torch

from lockstep.errors import UsageError
from lockstep.experiments.all_reduce_sgd import learning_rate
from lockstep.experiments.all_reduce_sgd.learning_rate import convergence, goyal, linear, square_root, sweep, warm_up


def test_the_rules() -> None:
    assert linear(0.1, 32) == pytest.approx(3.2)
    assert square_root(0.1, 32) == pytest.approx(0.5657, rel=1e-3)
    assert [warm_up(t, 4, 0.5, 3) for t in (1, 2, 4, 5, 100)] == [0.75, 1.0, 1.5, 1.5, 1.5]
    assert warm_up(7, 10, 0.5, 1) == 0.5


def test_what_goyal_has_published_under_the_rules_of_the_sweep() -> None:
    rows = goyal()
    assert (8192, "linear, warm-up", 23.74) in rows
    assert (8192, "unscaled", 41.67) in rows
    assert {rule for _, rule, _ in rows} == {rule for _, rule, _ in sweep(batches=[1280])}


@pytest.mark.slow
def test_a_sweep_is_the_same_every_time_and_leaves_the_programs_random_numbers_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = sweep(batches=[640])
    assert torch.equal(torch.rand(3), expected)
    assert first == sweep(batches=[640])
    assert [rule for _, rule, _ in first] == ["unscaled", "square root", "linear", "linear, warm-up"]


def test_the_sweep_trains_by_the_warm_up_that_it_is_given() -> None:
    asked: list[tuple[int, int, float, float]] = []

    def mine(t: int, steps: int, rate: float, K: float) -> float:
        asked.append((t, steps, rate, K))
        return rate

    errors = {rule: error for _, rule, error in sweep(mine, batches=[640])}
    assert errors["linear, warm-up"] == errors["unscaled"]
    assert set(asked) == {(t, 10, 0.1, 40.0) for t in range(1, 41)}


@pytest.mark.slow
def test_a_larger_batch_takes_fewer_steps_and_more_examples() -> None:
    """Both sentences of the notes: larger batches converge faster, and so do smaller ones."""
    small, large = convergence(batches=(8, 512), seeds=1).values()
    assert large.steps < small.steps / 2
    assert large.examples > 5 * small.examples


def test_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_rate, "RATES", (0.4,))
    found = convergence(batches=(64,), seeds=1)
    (row,) = learning_rate.convergence_table(found).rows
    assert row == ["64", "0.4", f"{found[64].steps:.0f}", f"{64 * found[64].steps:,.0f}"]


def test_a_batch_that_never_gets_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_rate, "RATES", (1e-6,))
    with pytest.raises(UsageError, match="no learning rate gets there"):
        convergence(batches=(1024,), seeds=1)
