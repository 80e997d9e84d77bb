"""The programs that a learner's line drives do what it says, right or wrong."""

from __future__ import annotations

import torch
import torch.distributed as dist

from lockstep import run
from lockstep.experiments.all_reduce_sgd.your_line import Update, driven_epochs, driven_sgd


def three_steps(update: Update) -> list[float]:
    """On the ranks' losses (w - r)² / 2, for two steps with a learning rate of 1/2 and one with 1/4."""

    def program() -> float:
        own = torch.tensor(float(dist.get_rank()), dtype=torch.float64)
        w = torch.tensor(8.0, dtype=torch.float64)
        batches = [(own, own)] * 3
        return driven_sgd(lambda w, x, y: w - x, w, batches, lambda t: 0.5 if t < 3 else 0.25, update).item()

    return run(program, ranks=4, on="virtual").values


def test_a_right_line_walks_towards_the_mean_on_every_rank() -> None:
    expected = 1.5 + (8 - 1.5) * 0.5 * 0.5 * 0.75
    assert three_steps(lambda w, G, M, alpha: w - alpha / M * G) == [expected] * 4


def test_another_line_makes_another_step() -> None:
    """With twice the sum each error becomes 1 - 4 = -3 times as large, and at the smaller rate 1 - 2 = -1 times."""
    assert three_steps(lambda w, G, M, alpha: w - 2 * alpha * G) == [1.5 + (8 - 1.5) * -3 * -3 * -1] * 4


def test_epochs_are_dealt_out_by_the_line() -> None:
    table = driven_epochs(10, ranks=3, epochs=2, share=lambda order, rank, ranks: order[rank::ranks])
    first, second = table.rows
    assert first[-1] == second[-1] == "10 once"
    assert [len(own.split()) for own in first[1:-1]] == [4, 3, 3]
    assert first[1:] != second[1:]


def test_what_is_left_out_or_seen_twice_is_counted() -> None:
    dropped = driven_epochs(10, 3, 1, lambda order, rank, ranks: order[rank * 3 : rank * 3 + 3])
    doubled = driven_epochs(10, 3, 1, lambda order, rank, ranks: order[: 4 + rank])
    assert dropped.rows[0][-1] == "1 never, 9 once"
    assert doubled.rows[0][-1] == "4 never, 1 once, 1 twice, 4 3 times"
