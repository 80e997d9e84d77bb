"""Mixing matrices: what sums to 1, and the gaps that the papers state."""

import math

import pytest
import torch
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.without_waiting.gossip import (
    best_mixing,
    circulant_second,
    complete,
    exponential,
    metropolis,
    neighbours_of_steps,
    one_peer_exponential,
    ring,
    second_eigenvalue,
    spectral_gap,
    star,
    step_sets,
    torus,
)

ALL = {
    "ring": ring, "star": star, "complete": complete, "exponential": exponential,
    "torus": lambda K: torus(K // 2, 2) if K % 2 == 0 else torus(1, K),
}  # fmt: skip


def sums_to_1(W: Tensor) -> bool:
    return all(torch.allclose(W.sum(d), torch.ones(len(W), dtype=torch.float64)) for d in (0, 1)) and bool(
        (W >= 0).all()
    )


@pytest.mark.parametrize("K", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("name", ALL)
def test_rows_and_columns_sum_to_1_and_the_graph_is_connected(name: str, K: int) -> None:
    W = ALL[name](K)
    assert W.shape == (K, K)
    assert sums_to_1(W)
    assert spectral_gap(W) > 0.01


@pytest.mark.parametrize("K", [4, 8, 16, 32, 64])
def test_the_gaps_are_those_that_are_known(K: int) -> None:
    assert second_eigenvalue(ring(K)) == pytest.approx((1 + 2 * math.cos(2 * math.pi / K)) / 3)
    assert spectral_gap(star(K)) == pytest.approx(1 / K)
    assert spectral_gap(complete(K)) == pytest.approx(1)
    assert spectral_gap(exponential(K)) == pytest.approx(2 / (1 + math.log2(K)))  # Ying et al. 2021
    assert spectral_gap(torus(K // 4, 4)) <= spectral_gap(exponential(K)) + 1e-9


@pytest.mark.parametrize("K", [64, 144])
def test_the_rough_formulas_of_large_rings_and_tori_hold(K: int) -> None:
    assert spectral_gap(ring(K)) == pytest.approx(4 * math.pi**2 / 3 / K**2, rel=0.01)
    assert spectral_gap(torus(math.isqrt(K), math.isqrt(K))) == pytest.approx(4 * math.pi**2 / 5 / K, rel=0.06)


@pytest.mark.parametrize("K", [1, 2, 4, 8, 16])
def test_one_peer_at_a_time_gives_the_mean_of_a_power_of_two(K: int) -> None:
    product = torch.eye(K, dtype=torch.float64)
    for W in one_peer_exponential(K):
        assert sums_to_1(W)
        product = W @ product
    assert torch.equal(product, complete(K))


def test_one_peer_at_a_time_is_not_exact_for_other_numbers() -> None:
    product = torch.linalg.multi_dot(one_peer_exponential(6))
    assert not torch.allclose(product, complete(6))


def test_metropolis_weights_of_unequal_ranks() -> None:
    W = metropolis([{1, 2, 3}, {0}, {0, 3}, {0, 2}])
    assert torch.equal(W, W.T)
    assert W[0].tolist() == [0.25, 0.25, 0.25, 0.25]
    assert W[1].tolist() == [0.25, 0.75, 0.0, 0.0]
    assert W[2, 3].item() == pytest.approx(1 / 3)


@pytest.mark.parametrize("graph", [[{1}, set()], [{0}], [{2}, {0}]])
def test_a_graph_of_which_links_are_one_way_has_no_metropolis_weights(graph: list[set[int]]) -> None:
    with pytest.raises(UsageError):
        metropolis(graph)


@pytest.mark.parametrize(("K", "degree"), [(1, 2), (2, 1), (3, 8), (7, 3), (8, 3), (9, 4), (16, 5), (30, 4)])
def test_the_best_circulant_matrix_is_what_it_says(K: int, degree: int) -> None:
    W = torch.tensor(best_mixing(K, degree), dtype=torch.float64)
    assert sums_to_1(W)
    assert torch.equal(W, W.T)
    assert all(torch.equal(W[i], W[0].roll(i)) for i in range(K))
    assert int((W[0] != 0).sum()) - 1 <= degree
    tried = [circulant_second(K, steps) for steps in step_sets(K, degree)]
    assert second_eigenvalue(W) == pytest.approx(min(tried), abs=1e-12)


def test_the_cosines_are_the_eigenvalues() -> None:
    for steps in step_sets(12, 5):
        near = {0, *steps, *(12 - s for s in steps)}
        W = torch.tensor([[float((j - i) % 12 in near) for j in range(12)] for i in range(12)]).double() / len(near)
        assert len(near) == neighbours_of_steps(12, steps) + 1
        assert second_eigenvalue(W) == pytest.approx(circulant_second(12, steps), abs=1e-9)
