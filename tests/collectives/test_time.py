"""The time that each docstring states, on a virtual network of alpha = 1 s a message and beta = 1/64 s a byte."""

from collections.abc import Callable

import pytest
import torch
import torch.distributed as dist
from collective_cases import seconds

from lockstep import collectives
from lockstep.cost import algorithms
from lockstep.worlds import run

ALPHA, BETA = 1.0, 1 / 64
BYTES = 960  # 2, 3, 4, 5, 8 and 16 divide it


def of_everyone(name: str, nbytes: int) -> None:
    getattr(collectives, name)(torch.ones(nbytes, dtype=torch.uint8))


def of_a_root(name: str, nbytes: int) -> None:
    getattr(collectives, name)(torch.ones(nbytes, dtype=torch.uint8), dist.get_world_size() - 1)


def time_of(name: str, K: int, nbytes: int = BYTES) -> float:
    call = of_a_root if name.startswith(("tree", "star_b", "star_r")) else of_everyone
    return seconds(call, name, nbytes, ranks=K, alpha=ALPHA, beta=BETA)


Model = Callable[..., algorithms.Cost]


@pytest.mark.sampled(19)
@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize(
    ("name", "model", "kind"),
    [
        ("ring_all_reduce", algorithms.ring_all_reduce, {}),
        ("peers_all_reduce", algorithms.naive_all_reduce, {}),
        ("unchunked_ring_all_reduce", algorithms.unchunked_ring_all_reduce, {}),
        ("star_all_reduce", algorithms.star, {"kind": "all_reduce"}),
        ("star_broadcast", algorithms.star, {"kind": "broadcast"}),
        ("star_reduce", algorithms.star, {"kind": "reduce"}),
        ("tree_broadcast", algorithms.binomial_tree, {"kind": "broadcast"}),
        ("tree_reduce", algorithms.binomial_tree, {"kind": "reduce"}),
    ],
)
def test_time_is_what_the_model_says(K: int, name: str, model: Model, kind: dict[str, str]) -> None:
    assert time_of(name, K) == pytest.approx(model(BYTES, K, ALPHA, BETA, **kind).seconds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("K", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", ["recursive_doubling_all_reduce", "halving_doubling_all_reduce"])
def test_time_for_powers_of_two(K: int, name: str) -> None:
    assert time_of(name, K) == pytest.approx(getattr(algorithms, name)(BYTES, K, ALPHA, BETA).seconds)


@pytest.mark.slow
def test_the_fast_ones_are_faster() -> None:
    ring, naive = time_of("ring_all_reduce", 8), time_of("unchunked_ring_all_reduce", 8)
    assert ring < naive / 2
    assert time_of("tree_broadcast", 8) == pytest.approx(3 / 7 * time_of("star_broadcast", 8))


def test_a_late_rank_delays_the_others_and_changes_nothing_else() -> None:
    assert run(one_rank_is_late, ranks=5, on="laptop").values == [[5.0] * 7] * 5


def one_rank_is_late() -> list[float]:
    if dist.get_rank() == 2:
        torch.ones(64, 64) @ torch.ones(64, 64)
    return collectives.ring_all_reduce(torch.ones(7)).tolist()
