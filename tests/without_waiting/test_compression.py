"""What is sent and what is left make the total; what is sent arrives in the mean; and how many bytes it takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.compression_with_error_feedback import (
    PowerSGD,
    compressed_sgd,
    first_q,
    half_precision,
    power_sgd,
    topk_with_error_feedback,
    uncompressed,
)
from lockstep.without_waiting.problems import Digits
from lockstep.worlds import run

N = 60
Pair = tuple[Tensor, Tensor]


def numbers(rank: int, dtype: torch.dtype, n: int = N) -> Pair:
    """A gradient and a residual."""
    drawn = torch.Generator().manual_seed(rank)
    gradient, residual = torch.randn(2, n, generator=drawn, dtype=torch.float64)
    return gradient.to(dtype), (residual / 8).to(dtype)


def compressed(compress: Callable[[Tensor, Tensor], Pair], dtype: torch.dtype) -> tuple[Pair, Pair]:
    gradient, residual = numbers(dist.get_rank(), dtype)
    return compress(gradient, residual), (gradient, residual)


def exactly(vector: Tensor) -> list[Fraction]:
    return [Fraction(v) for v in vector.tolist()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_top_k_sends_the_k_largest_and_leaves_the_rest_to_the_bit(dtype: torch.dtype) -> None:
    done = run(compressed, partial(topk_with_error_feedback, k=7), dtype, ranks=3, on="laptop").values
    sent = []
    for rank, ((_, left), (gradient, residual)) in enumerate(done):
        assert torch.equal(gradient, numbers(rank, dtype)[0])
        assert torch.equal(residual, numbers(rank, dtype)[1])
        total = gradient + residual
        sent.append(total - left)
        assert [a + b for a, b in zip(exactly(sent[-1]), exactly(left), strict=True)] == exactly(total)
        assert int((sent[-1] != 0).sum()) == 7
        assert sent[-1][sent[-1] != 0].abs().min() > left.abs().max()
    for (mean, _), _ in done:
        assert mean.dtype == dtype
        torch.testing.assert_close(mean, torch.stack(sent).mean(0))
        assert torch.equal(mean, done[0][0][0])


def same_place() -> Pair:
    """Both ranks send place 2, with other values; rank 1 sends place 0 as well."""
    gradient = torch.tensor([[1.0, 2.0, 16.0, 0.0], [-8.0, 0.0, 32.0, 4.0]])[dist.get_rank()]
    return topk_with_error_feedback(gradient, torch.tensor([0.0, 2.0, 0.0, 0.0]), 2)


def test_values_that_several_ranks_send_for_one_place_add_up() -> None:
    (mean, first), (_, second) = run(same_place, ranks=2, on="laptop").values
    assert mean.tolist() == [-4.0, 2.0, 24.0, 0.0]
    assert first.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert second.tolist() == [0.0, 2.0, 0.0, 4.0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_half_precision_leaves_what_rounding_cuts_off_to_the_bit(ranks: int, dtype: torch.dtype) -> None:
    for (_, left), (gradient, residual) in run(compressed, half_precision, dtype, ranks=ranks, on="laptop").values:
        total = gradient + residual
        sent = (total / ranks).half().to(dtype) * ranks
        assert [a + b for a, b in zip(exactly(sent), exactly(left), strict=True)] == exactly(total)
        assert 0 < left.abs().max() <= total.abs().max() * 2**-10


def iterated(rank_of_mean: int, r: int, steps: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """The same matrix in each step, without error feedback: (its mean over the ranks, as sent, what is left)."""
    drawn = torch.Generator().manual_seed(dist.get_rank())
    left, right = torch.randn(2, 9, rank_of_mean, generator=drawn, dtype=torch.float64)
    own = left @ right[:6].T / 2 ** torch.arange(6)
    mean, q, rows = own.clone(), first_q(6, r, torch.float64), []
    dist.all_reduce(mean)
    for _ in range(steps):
        sent, residual, q = power_sgd(own, torch.zeros_like(own), q)
        rows.append((mean / dist.get_world_size(), sent, residual))
    return rows


def test_power_sgd_sends_a_matrix_of_low_rank_whole() -> None:
    """Two ranks' matrices of rank 1 have a mean of rank 2."""
    for ((mean, sent, _),) in run(iterated, 1, 2, 1, ranks=2, on="laptop").values:
        torch.testing.assert_close(sent, mean)


def test_power_sgd_finds_the_best_low_rank_in_some_steps_and_what_is_left_is_its_error() -> None:
    by_rank = run(iterated, 6, 2, 40, ranks=3, on="laptop").values
    mean = by_rank[0][0][0]
    u, s, v = torch.linalg.svd(mean)
    torch.testing.assert_close(by_rank[0][-1][1], u[:, :2] @ torch.diag(s[:2]) @ v[:2])
    errors = [float((sent - mean).norm()) for _, sent, _ in by_rank[0]]
    assert errors[0] > errors[-1]
    for step in (0, -1):
        left = torch.stack([rows[step][2] for rows in by_rank]).mean(0)
        torch.testing.assert_close(by_rank[0][step][1] + left, mean)
        assert all(torch.equal(rows[step][1], by_rank[0][step][1]) for rows in by_rank)


def as_matrix() -> list[Pair]:
    gradient, residual = numbers(dist.get_rank(), torch.float64)
    compress, q = PowerSGD(columns=6, rank=2), first_q(6, 2, torch.float64)
    pairs = []
    for _ in range(2):
        by_vector = compress(gradient, residual)
        *by_matrix, q = power_sgd(gradient.view(10, 6), residual.view(10, 6), q)
        pairs += list(zip(by_vector, [m.flatten() for m in by_matrix], strict=True))
    return pairs


def test_a_vector_travels_as_a_matrix_and_q_is_kept() -> None:
    for pairs in run(as_matrix, ranks=2, on="laptop").values:
        assert all(torch.equal(a, b) for a, b in pairs)


COSTS: dict[str, tuple[Callable[..., Any], list[tuple[str, int]]]] = {
    "all of it": (uncompressed, [("all_reduce", 4 * N)]),
    "float16": (half_precision, [("all_reduce", 2 * N)]),
    "top 7": (partial(topk_with_error_feedback, k=7), [("all_gather", 3 * 7 * 4), ("all_gather", 3 * 7 * 8)]),
    "PowerSGD": (PowerSGD(6, 2), [("all_reduce", 10 * 2 * 4), ("all_reduce", 6 * 2 * 4)]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COSTS)
def test_how_many_bytes_travel(name: str) -> None:
    compress, wanted = COSTS[name]
    trace = run(compressed, compress, torch.float32, ranks=3, on="laptop").trace
    assert [(e.kind, e.nbytes) for e in trace.communication if e.rank == 1] == wanted


def followed(feedback: bool) -> tuple[Tensor, Tensor]:
    """SGD by the largest two elements of a gradient that is always the same; and the residual that is left then."""
    gradient = torch.tensor([8.0, 4.0, 2.0, 1.0], dtype=torch.float64) * (1 + dist.get_rank())
    kept: list[Tensor] = []

    def compress(g: Tensor, residual: Tensor) -> Pair:
        mean, left = topk_with_error_feedback(g, residual, 2)
        kept[:] = [left]
        return mean, left

    w = compressed_sgd(lambda w, step: gradient, torch.zeros(4, dtype=torch.float64), 50, 1.0, compress, feedback)
    return w, kept[0]


@pytest.mark.slow
def test_with_error_feedback_nothing_is_lost_and_without_it_small_elements_never_travel() -> None:
    by_rank = run(followed, True, ranks=2, on="laptop").values
    left = torch.stack([left for _, left in by_rank]).mean(0)
    assert (left - by_rank[0][0]).tolist() == [600.0, 300.0, 150.0, 75.0]  # 50 times the mean gradient
    (w, _), _ = run(followed, False, ranks=2, on="laptop").values
    assert w.tolist() == [-600.0, -300.0, 0.0, 0.0]


def of_a_group() -> list[float]:
    group = dist.new_group([1, 3])
    if dist.get_rank() not in (1, 3):
        return []
    gradient, zero = torch.full((4,), float(dist.get_rank())), torch.zeros(4)
    means = [
        uncompressed(gradient, zero, group)[0],
        half_precision(gradient, zero, group)[0],
        topk_with_error_feedback(gradient, zero, 4, group)[0],
        PowerSGD(2, 2, group)(gradient, zero)[0],
    ]
    return [float(mean.mean()) for mean in means]


def test_a_group_has_its_own_mean() -> None:
    values = run(of_a_group, ranks=4, on="laptop").values
    assert values[1] == values[3] == pytest.approx([2.0] * 4)


def test_the_last_row_of_the_digits_matrix_are_the_biases() -> None:
    w = Digits().start()
    assert w.view(-1, 10).shape == (65, 10)
