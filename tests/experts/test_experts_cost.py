"""What a layer of experts sends, keeps and takes, by formula and in traces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep import run
from lockstep.cost.experts import (
    booked,
    capacity,
    even_loads,
    expert_states,
    published_to_compute,
    rows,
    sent,
    step_seconds,
    to_compute,
    with_capacity,
)
from lockstep.errors import UsageError
from lockstep.experiments.mixture_of_experts.loads import imbalance, imbalance_table, loaded, skewed
from lockstep.experts import gate as with_torch
from lockstep.experts.balance import loads as counted
from lockstep.experts.expert_parallel import ExpertParallelMoE, add_up_gradients
from lockstep.experts.gate import TopKGate
from lockstep.machines import find

D, H, E, K, FACTOR = 24, 40, 6, 2, 1.0


def adam_steps(factor: float | None) -> list[list[int]]:
    """A rank's row of the loads; it takes two steps, of which traces have the bytes."""
    W, rank = dist.get_world_size(), dist.get_rank()
    layer = ExpertParallelMoE(TopKGate(D, E, K), H, capacity_factor=factor)
    adam = torch.optim.Adam(layer.parameters())
    alone = [dist.new_group([r]) for r in range(W)][rank]
    x = torch.randn(20 + 5 * rank, D, generator=torch.Generator().manual_seed(rank)).requires_grad_()
    found = []
    for _ in range(2):
        adam.zero_grad()
        layer(x).square().mean().backward()
        found.append(counted(layer.routing.experts[layer.routing.kept], E).tolist())
        add_up_gradients(layer, alone)
        adam.step()
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("W", "factor"), [(1, None), (3, None), (2, FACTOR)])
def test_bytes_and_memory_are_those_of_the_formula(W: int, factor: float | None) -> None:
    result = run(adam_steps, factor, ranks=W, on="dgx-a100")
    by_step = [booked([of_rank[step] for of_rank in result.values], D) for step in range(2)]
    for r in range(W):
        found = result.trace.counts()[r, "all_to_all"]
        assert found.number == sum(of_step[r].number for of_step in by_step)
        assert found.nbytes == sum(of_step[r].nbytes for of_step in by_step)
        states, peaks = expert_states(E, W, D, H), result.memory[r].peaks
        assert peaks["parameters"] == states.parameters
        assert peaks["optimizer state"] == states.optimizer + 4 * (1 + 2 * E // W), "Adam counts the steps of each"


def test_what_leaves_a_rank() -> None:
    loads = [[3, 0, 5, 9], [7, 1, 2, 3]]
    assert [tuple(r) for r in rows(loads)] == [(17, 11, 3), (13, 19, 5)]
    counts = 8 * 4 / 2
    assert sent(loads, 10) == [counts + 2 * 40 * (14 + 8), counts + 2 * 40 * (8 + 14)]
    even = even_loads(4, 8, 16, 2)
    assert sent(even, 10)[0] == pytest.approx(8 * 8 * 3 / 4 + 4 * 40 * 32 * 3 / 4), "4·b·d·T·k·(K-1)/K, and the counts"


def test_tables_without_sense() -> None:
    for loads in ([], [[]], [[1, 2, 3], [1, 2, 3]], [[1, 2], [1]], [[-1]]):
        with pytest.raises(UsageError, match="a row for each rank"):
            rows(loads)


def test_places_are_those_of_the_layer() -> None:
    for factor, tokens, k, experts in ((1.0, 12, 1, 4), (1.25, 13, 2, 5), (0.5, 1, 1, 8)):
        assert capacity(factor, tokens, k, experts) == with_torch.capacity(factor, tokens, k, experts)
    assert with_capacity([[5, 1], [2, 4]], 3) == ([[3, 1], [2, 3]], 3)


def test_all_to_alls_beside_computing_are_as_published() -> None:
    for k, servers, width in ((1, 2, 768), (2, 4, 1024)):
        ours = to_compute(k, servers, width, 312e12, 25e9, number=2)
        assert ours == pytest.approx(published_to_compute(k, servers, width, 312e12, 25e9 / 2)), "25 GB/s of 2 bytes"


@pytest.mark.parametrize(
    "loads", [[[3, 0, 500, 9], [700, 1, 2, 3]], skewed(4, 8, 400, 0.5), [[0, 0, 0], [10, 0, 5], [7, 0, 0]]]
)
def test_the_time_of_a_step_is_that_of_the_formula(loads: Any) -> None:
    result = loaded(loads, 64, 256)
    assert result.time == pytest.approx(step_seconds(loads, 64, 256, find("dgx-a100")), rel=1e-12)
    assert [result.trace.counts()[r, "all_to_all"] for r in range(len(loads))] == booked(loads, 64)


def test_everybody_waits_for_the_rank_with_the_popular_expert() -> None:
    loads = skewed(4, 4, 4000, 0.7)
    assert imbalance(loads) == pytest.approx(2.8)
    trace = loaded(loads, 64, 256).trace
    combines = [[e for e in trace.of_rank(r) if e.kind == "all_to_all"][2] for r in range(4)]
    busy, *others = (e.wait for e in combines)
    assert busy < min(others)


def test_imbalance_costs_time_and_capacity_costs_tokens() -> None:
    rows = imbalance_table().rows
    times = [float(row[3]) for row in rows]
    assert times[0] == 1
    assert all(a < b for a, b in pairwise(times))
    assert [row[5] for row in rows] == ["0 %", "9 %", "34 %", "84 %"]
