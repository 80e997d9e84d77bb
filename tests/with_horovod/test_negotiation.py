"""Horovod's coordinator and its response cache: one order on all ranks, nothing early, nothing late."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
import torch.distributed as dist

import lockstep
from lockstep.errors import Mismatch, RankRaised
from lockstep.experiments.horovod.control_messages import control, messages
from lockstep.experiments.horovod.cost_of_negotiating import cost_of_negotiating
from lockstep.experiments.horovod.out_of_order import out_of_order, out_of_order_horovod, out_of_order_negotiated
from lockstep.with_horovod.negotiation import Coordinator, negotiate, negotiate_with_cache, on_all
from lockstep.with_horovod.ranks import run_horovod

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bfloat16)


def cycles_of(names: list[str], seed: int) -> list[dict[str, torch.Tensor]]:
    """In this rank's order and this rank's cycles, which may be empty; ones, so that the sum is the number of ranks."""
    draw = random.Random(seed)
    cycles: list[dict[str, torch.Tensor]] = [{} for _ in range(draw.randint(1, 5))]
    for name in draw.sample(names, len(names)):
        dtype = DTYPES[len(name) % len(DTYPES)]
        draw.choice(cycles)[name] = torch.ones(len(name), dtype=dtype)
    return cycles


def negotiated(members: list[int] | None) -> Any:
    group = dist.new_group(members) if members else None
    if members and dist.get_rank() not in members:
        return None
    cycles = cycles_of(["w" * n for n in range(1, 10)], seed=dist.get_rank())
    order = negotiate(iter(cycles), group)
    sums = {name: tensor.unique().tolist() for cycle in cycles for name, tensor in cycle.items()}
    return order, sums, {name: at for at, cycle in enumerate(cycles) for name in cycle}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("ranks", "members", "on"),
    [
        (1, None, "virtual"),
        (2, None, "virtual"),
        (5, None, "virtual"),
        (5, [1, 2, 4], "virtual"),
        (3, [1, 2], "processes"),
    ],
)
def test_all_ranks_reduce_all_tensors_in_one_order(ranks: int, members: list[int] | None, on: str) -> None:
    outcome = lockstep.run(negotiated, members, ranks=ranks, on=on)
    values = [outcome.values[rank] for rank in members or range(ranks)]
    order = values[0][0]
    assert sorted(order) == sorted(values[0][1])
    assert all(value[0] == order for value in values)
    assert all(sums == [len(values)] for _, by_name, _ in values for sums in by_name.values())
    complete = [max(ready[name] for *_, ready in values) for name in order]
    assert complete == sorted(complete), "what is ready on all ranks first is all-reduced first"


def test_the_table_in_the_docstring() -> None:
    coordinator = Coordinator(2)
    assert coordinator.answer([["a"], ["b"]]) == []
    assert coordinator.answer([["b", "c"], ["c"]]) == ["b", "c"]
    assert coordinator.answer([None, ["a"]]) == ["a"]
    assert coordinator.answer([None, None]) is None


def never_on_all() -> None:
    negotiate([{"w": torch.ones(1)}] if dist.get_rank() == 0 else [{}])


def twice_before_it_is_reduced() -> None:
    w = torch.ones(1)
    negotiate([{"w": w}, {"w": w}] if dist.get_rank() == 0 else [{}, {}, {"w": w}])


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (never_on_all, "'w' is ready on rank 0, and not on all ranks"),
        (twice_before_it_is_reduced, "'w' is ready twice"),
    ],
)
def test_what_cannot_be_negotiated_is_told_and_does_not_hang(program: Any, told: str) -> None:
    with pytest.raises(RankRaised, match=told):
        lockstep.run(program, ranks=2, on="virtual")


def test_control_messages_are_two_times_k_less_one_a_cycle() -> None:
    outcome = lockstep.run(negotiated, None, ranks=5, on="virtual")
    cycles = max(1 + max(value[2].values()) for value in outcome.values)
    said = control(outcome.trace, ())
    in_all = sum(messages(event) for event in said if event.kind != "all_reduce")
    assert 4 * cycles <= in_all <= 2 * 4 * (5 + 1)
    assert {event.kind for event in said} == {"all_gather", "gather", "broadcast", "all_reduce"}


# ---- the cache


def cached(steps: int) -> Any:
    found = []
    for step in range(steps):
        found.append(cycles_of(["w" * n for n in range(1, 10)], seed=10 * step + dist.get_rank()))
    orders = negotiate_with_cache(found)
    sums = {float(v) for cycles in found for cycle in cycles for tensor in cycle.values() for v in tensor.flatten()}
    return orders, sums


@pytest.mark.slow
@pytest.mark.parametrize("on", ["virtual", "processes"])
def test_with_a_cache_nobody_is_asked_from_the_second_step_on(on: str) -> None:
    outcome = lockstep.run(cached, 3, ranks=3, on=on)
    orders, sums = outcome.values[0]
    assert all(value == (orders, sums) for value in outcome.values)
    assert sums == {3.0}
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    one = lockstep.run(cached, 1, ranks=3, on=on)
    assert len(outcome.trace.of_kind("gather")) == len(one.trace.of_kind("gather")) > 0


def new_in_the_second_step() -> list[list[str]]:
    one = {"a": torch.ones(1), "b": torch.ones(1)}
    two = {"c": torch.ones(1)} | {name: torch.ones(1) for name in "ab"}
    return negotiate_with_cache([[one], [two] if dist.get_rank() else [{}, two]])


def test_a_tensor_that_is_not_in_the_cache_is_negotiated() -> None:
    outcome = lockstep.run(new_in_the_second_step, ranks=2, on="virtual")
    assert outcome.values[0] == outcome.values[1] == [["a", "b"], ["a", "b", "c"]]


def many_bits() -> set[int]:
    return on_all(set(range(dist.get_rank(), 200, dist.get_rank() + 1)), 200, None)


def test_bits_beyond_one_word() -> None:
    every = [set(range(r, 200, r + 1)) for r in range(3)]
    outcome = lockstep.run(many_bits, ranks=3, on="virtual")
    assert outcome.values == [every[0] & every[1] & every[2]] * 3
    assert [event.nbytes for event in outcome.trace.of_rank(0) if event.kind == "all_reduce"] == [32]


# ---- the program that is out of order


def sums_by(program: Any, lengths: tuple[int, int]) -> list[list[float]]:
    a, b = (torch.full((n,), float(10**place)) for place, n in enumerate(lengths))
    return [tensor[:1].tolist() for tensor in program(a, b)]


@pytest.mark.slow
@pytest.mark.parametrize("on", ["virtual", "processes"])
def test_out_of_order_all_reduces_are_a_mismatch_or_silently_wrong(on: str) -> None:
    with pytest.raises(Mismatch):
        lockstep.run(sums_by, out_of_order, (3, 5), ranks=3, on=on)
    outcome = lockstep.run(sums_by, out_of_order, (3, 3), ranks=3, on=on)
    assert outcome.values == [[[21.0], [12.0]], [[12.0], [21.0]], [[12.0], [21.0]]]


@pytest.mark.slow
@pytest.mark.parametrize("lengths", [(3, 5), (3, 3)])
def test_negotiated_they_are_right(lengths: tuple[int, int]) -> None:
    outcome = lockstep.run(sums_by, out_of_order_negotiated, lengths, ranks=3, on="virtual")
    assert outcome.values == [[[3.0], [30.0]]] * 3


@pytest.mark.horovod
@pytest.mark.parametrize("lengths", [(3, 5), (3, 3)])
def test_by_horovod_they_are_right(lengths: tuple[int, int]) -> None:
    outcome = run_horovod(sums_by, out_of_order_horovod, lengths, ranks=3)
    assert outcome.values == [[[3.0], [30.0]]] * 3


# ---- what it costs


@pytest.mark.slow
def test_the_coordinator_takes_more_the_more_ranks_there_are_and_the_cache_does_not() -> None:
    few, many = (cost_of_negotiating(ranks, 40) for ranks in (4, 16))
    for in_order, coordinator, cache in (few, many):
        assert in_order.collectives == in_order.nbytes == 0
        assert in_order.payload == coordinator.payload == cache.payload == 40 * 4004
        assert cache.collectives == coordinator.collectives / 4 == 6, "5 cycles, and one to stop"
        assert in_order.seconds < cache.seconds < coordinator.seconds
    assert many[1].nbytes > 4.9 * few[1].nbytes, "15 others tell their names instead of 3"
    assert cache_bytes(few) == 6 * 2 * 8 * 3 // 4
    assert cache_bytes(many) == 6 * 2 * 8 * 15 // 16


def cache_bytes(ways: Any) -> int:
    return int(ways[2].nbytes)
