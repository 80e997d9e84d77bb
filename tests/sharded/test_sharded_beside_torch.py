"""FullySharded beside torch's two: the same numbers, the same collectives in the same order; hybrid sharding."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import fully_sharded_program as program
import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.cost.sharding import hybrid
from lockstep.errors import UsageError
from lockstep.experiments.fsdp.compared_with_torch import METHODS, SIZES, Beside, beside_torch, beside_torch_table
from lockstep.models import linear
from lockstep.sharded.hybrid import HybridSharded, node_groups

ROUNDING = 1e-15
SHARDS = sum((a + 1) * b for a, b in pairwise(SIZES)) // 4 * 8  # bytes a rank: float64, K = 4


@pytest.fixture(scope="module")
def by_method() -> dict[str, Beside]:
    return {row.method: row for row in beside_torch(4)}


@pytest.mark.slow
def test_numbers_are_those_of_one_rank_and_of_torch(by_method: dict[str, Beside]) -> None:
    assert len(by_method) == len(METHODS) - 1
    assert all(row.difference <= ROUNDING for row in by_method.values())


@pytest.mark.slow
def test_collectives_are_those_of_torch_in_their_order(by_method: dict[str, Beside]) -> None:
    ours = by_method["FullySharded"].sent
    assert ours == by_method["fully_shard"].sent == by_method["FullyShardedDataParallel"].sent
    assert sorted(ours) == sorted(by_method["FullySharded, prefetch=False"].sent) != []
    assert sum(nbytes for _, nbytes in ours) == 3 * 4 * SHARDS


def test_peaks_stand_beside_torch(by_method: dict[str, Beside]) -> None:
    """With one unit whole ours is the peak of fully_shard, with two that of the older wrapper, which prefetches even
    here. A rank has a quarter of the optimizer's state, in all of them, beside Adam's count of steps."""
    whole = 8 * 33 * 32
    peaks = {name: row.memory.peaks for name, row in by_method.items()}
    assert peaks["FullySharded, prefetch=False"]["parameters"] == peaks["fully_shard"]["parameters"] == SHARDS + whole
    assert peaks["FullySharded"]["parameters"] == peaks["FullyShardedDataParallel"]["parameters"] == SHARDS + 2 * whole
    assert all(0 < row["optimizer state"] - 2 * SHARDS <= 4 * 8 for row in peaks.values())
    assert by_method["FullySharded, prefetch=False"].memory.peak < by_method["fully_shard"].memory.peak


def test_the_table_has_a_row_for_each_method(by_method: dict[str, Beside], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lockstep.experiments.fsdp.compared_with_torch.beside_torch", lambda K: list(by_method.values())
    )
    table = beside_torch_table(4)
    assert [row[0] for row in table.rows] == [name for name in METHODS if name != "one rank"]
    assert len({(row[2], row[3]) for row in table.rows}) == 1


# ---- hybrid


def in_two_nodes() -> None:
    inside, across = node_groups(4)
    model = HybridSharded((linear(16, 16, 0, index) for index in range(2)), inside=inside, across=across)
    model(torch.ones(2, 16)).square().mean().backward()


def test_only_a_shard_of_the_gradient_crosses_nodes() -> None:
    result = run(in_two_nodes, ranks=8, on="dgx-a100")
    n = 4 * 17 * 16 // 4
    told = {(e.kind, e.group, e.nbytes) for e in result.trace.of_rank(5) if e.kind != "compute"}
    inside, across = (4, 5, 6, 7), (1, 5)
    assert told == {("all_gather", inside, 4 * n), ("reduce_scatter", inside, 4 * n), ("all_reduce", across, n)}
    counts: Any = {kind: count.number for (rank, kind), count in result.trace.counts().items() if rank == 5}
    assert counts == {"all_gather": 4, "reduce_scatter": 2, "all_reduce": 2}
    sent = hybrid(2 * 4 * 17 * 16, ranks=8, per_node=4)
    assert 3 / 4 * (4 + 2) * 4 * n == sent.within
    assert 2 * 1 / 2 * 2 * n == sent.across


@pytest.mark.parametrize("ranks", [4, pytest.param(8, marks=pytest.mark.slow)])
def test_hybrid_gradients_are_those_of_one_rank(ranks: int) -> None:
    found = run(program.furthest, *program.TRAININGS["hybrid"], ranks=ranks, on="dgx-a100").values
    assert max(found) <= ROUNDING


def test_nodes_must_be_full() -> None:
    def refused() -> str:
        try:
            node_groups(2)
        except UsageError as error:
            return str(error.args[0])
        return str(dist.get_rank())

    assert run(refused, ranks=3, on="dgx-a100").values == ["3 ranks do not fill nodes of 2."] * 3
