"""Backup workers: counted from recorded seconds, and at work; and who is waited for."""

import pytest
import torch
import torch.distributed as dist

from lockstep.data_parallel.stragglers import (
    backup_table,
    backup_workers,
    drawn_seconds,
    find_straggler,
    gradients_per_second,
    train_with_backups,
)
from lockstep.machines import find
from lockstep.straggler import burn
from lockstep.worlds import run


@pytest.mark.parametrize(
    ("seconds", "best"),
    [
        ([[1.0, 1.0, 1.0, 1.0]], 0),
        ([[1.0, 1.0, 1.0, 2.0]], 1),  # 4 in 2 s, or 3 in 1 s
        ([[1.0, 1.0, 2.0, 2.0]], 0),  # 2 in 1 s are as many as 4 in 2 s
        ([[1.0, 1.0, 1.0, 4.0], [4.0, 1.0, 1.0, 1.0]], 1),  # another one each time
        ([[2.0]], 0),
    ],
)
def test_how_many_backup_workers(seconds: list[list[float]], best: int) -> None:
    assert backup_workers(seconds) == best


def test_the_table_marks_the_best() -> None:
    seconds = drawn_seconds()
    table, best = backup_table(), backup_workers(seconds)
    assert 0 < best < 9
    assert [row[0] for row in table.rows if row[-1]] == [str(best)]
    assert gradients_per_second(seconds, best) > 1.5 * gradients_per_second(seconds, 0)


def program(backups: int) -> tuple[torch.Tensor, list[int]]:
    """Worker r's gradient is w - r."""

    def gradient(w: torch.Tensor, step: int) -> torch.Tensor:
        burn(1e9)
        return w - dist.get_rank()

    return train_with_backups(gradient, torch.zeros(2, dtype=torch.float64), 8, 0.5, backups)


@pytest.mark.slow
def test_a_backup_worker_makes_good_for_a_slow_one() -> None:
    """Three workers, of which one takes eight times as long: with one backup worker nobody waits for it."""
    cluster = find("dgx-a100").with_rank(3, speed=1 / 8)
    waiting, going_on = (run(program, backups, ranks=4, on=cluster) for backups in (0, 1))
    assert going_on.time < waiting.time / 4
    w, used = zip(*waiting.values, strict=True)
    assert used[0] == [0, 8, 8, 8]
    assert all(torch.allclose(each, torch.full((2,), 2.0 * (1 - 2**-8), dtype=torch.float64)) for each in w)
    w, used = zip(*going_on.values, strict=True)
    assert used == ([0, 8, 8, 0], [], [], [])
    assert all(torch.allclose(each, torch.full((2,), 1.5 * (1 - 2**-8), dtype=torch.float64)) for each in w)


def training(batches: int) -> None:
    for _ in range(batches):
        burn(1e9)
        dist.all_reduce(torch.zeros(1000))
    if dist.get_rank() == 0:
        burn(1e10)  # it saves the model: nobody waits


@pytest.mark.sampled(3)
@pytest.mark.parametrize("slow", [0, 2, 5])
def test_the_straggler_is_who_is_waited_for(slow: int) -> None:
    trace = run(training, 5, ranks=6, on=find("dgx-a100").with_rank(slow, speed=0.8)).trace
    assert find_straggler(trace) == slow
