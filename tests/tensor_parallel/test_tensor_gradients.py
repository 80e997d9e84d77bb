"""Layers and models in parts: the gradients and weights of one rank, in both worlds and in a group."""

from __future__ import annotations

import pytest
import torch.distributed as dist

from lockstep import run
from lockstep.experiments.tensor_parallel.table import CASES, RANKS, beside_one_rank, differences, gradients_table

ROUNDING = 1e-15


@pytest.mark.parametrize("ranks", [3, *(pytest.param(K, marks=pytest.mark.slow) for K in (1, 2, 4, 8))])
def test_gradients_and_weights_are_those_of_one_rank(ranks: int) -> None:
    found = beside_one_rank([ranks])
    assert found.keys() == CASES.keys()
    for name, by_ranks in found.items():
        assert by_ranks.get(ranks, 0.0) <= ROUNDING, name


def test_what_is_possible() -> None:
    possible = {name: [K for K in RANKS if case.possible(K)] for name, case in CASES.items()}
    assert all(len(ranks) >= 3 for ranks in possible.values()), possible
    assert possible["8 heads, 2 with keys"] == [1, 2, 4, 8]
    assert possible["5 heads"] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "names", [["8 heads, 2 with keys", "GPT, sequence parallel"], pytest.param(list(CASES), marks=pytest.mark.slow)]
)
def test_on_processes_too(names: list[str]) -> None:
    names = [name for name in names if CASES[name].possible(4)]
    for found in run(differences, names, ranks=4, on="processes").values:
        assert max(found.values()) <= ROUNDING, found


def in_a_group() -> dict[str, float]:
    """Of ranks 1, 2, 4 and 5; the others do something else."""
    chosen = [1, 2, 4, 5]
    group = dist.new_group(chosen)
    if dist.get_rank() not in chosen:
        return {}
    return differences([name for name, case in CASES.items() if case.possible(4)], group)


@pytest.mark.slow
def test_in_a_group() -> None:
    found = run(in_a_group, ranks=6, on="dgx-a100").values
    assert [len(of_rank) > 0 for of_rank in found] == [False, True, True, False, True, True]
    assert max(far for of_rank in found for far in of_rank.values()) <= ROUNDING


def test_the_table_says_where_a_case_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: {3: 0.0} if case.possible(3) else {} for name, case in CASES.items()}
    monkeypatch.setattr("lockstep.experiments.tensor_parallel.table.beside_one_rank", lambda ranks: found)
    table = gradients_table([3])
    assert [row[0] for row in table.rows] == list(CASES)
    assert [row[0] for row in table.rows if row[1] == "–"] == ["8 heads, 2 with keys"]
