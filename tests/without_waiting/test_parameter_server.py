"""Parameter servers: whom they let wait, what they compute, and how stale it is; several of them; and delay."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.delayed import delayed, delayed_serially
from lockstep.without_waiting.parameter_server import (
    asynchronous,
    parameter_server,
    serve,
    several_servers,
    staleness_of,
    synchronous,
    work,
)
from lockstep.without_waiting.problems import GRADIENT, Bowls, Digits, cluster
from lockstep.worlds import Result, run

DIGITS, BOWLS = Digits(), Bowls()
SLOW = cluster(4.0)  # worker 1
Value = tuple[Tensor, Counter[int]]


def lockstepped(bound: float, steps: int, rate: float = 0.1) -> Value:
    """On the server w, and the staleness that it counted itself."""
    rank, workers = dist.get_rank() - 1, dist.get_world_size() - 1
    if rank < 0:
        return serve(DIGITS.start(), rate, bound, range(1, workers + 1))
    return work(DIGITS.of(rank, workers), DIGITS.start(), steps), Counter()


def one_step_after_the_other(workers: int, steps: int, rate: float) -> Tensor:
    """Sequential SGD with the workers' minibatches together: the mean of their gradients."""
    w = DIGITS.start()
    for step in range(steps):
        w = w - rate * torch.stack([DIGITS.gradient(w, rank, workers, step) for rank in range(workers)]).mean(0)
    return w


def waiting_for_all(steps: int, rate: float) -> Tensor:
    rank, workers = dist.get_rank() - 1, dist.get_world_size() - 1
    return synchronous(DIGITS.of(max(0, rank), workers), DIGITS.start(), steps, rate)


def test_a_server_that_waits_for_all_is_sequential_minibatch_sgd_to_the_bit() -> None:
    values = run(waiting_for_all, 6, 0.5, ranks=4, on=SLOW).values
    right = one_step_after_the_other(3, 6, 0.5)
    assert all(torch.equal(w, right) for w in values)


def test_bound_0_is_the_synchronous_server_up_to_the_order_of_the_sum() -> None:
    result = run(lockstepped, 0, 6, 0.5 / 3, ranks=4, on=SLOW)
    assert torch.allclose(result.values[0][0], one_step_after_the_other(3, 6, 0.5), rtol=0, atol=1e-14)
    assert result.time > 6 * 4 * GRADIENT  # the slow worker's six steps


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bound", [0, 1, 3, math.inf])
def test_staleness_from_the_trace_is_what_the_server_counts_itself(bound: float) -> None:
    result = run(lockstepped, bound, 8, ranks=5, on=SLOW)
    counted = result.values[0][1]
    assert staleness_of(result.trace) == dict(counted)
    assert sum(counted.values()) == 4 * 8


def fast_done(result: Result, worker: int) -> float:
    """When the server has the last gradient of that worker."""
    return max(e.end for e in result.trace.of_rank(0) if e.kind == "recv" and e.peer == worker)


def test_without_a_bound_a_fast_worker_is_done_in_its_own_time_and_with_one_it_waits() -> None:
    free, held = (run(lockstepped, bound, 8, ranks=3, on=SLOW) for bound in (math.inf, 2))
    assert fast_done(free, 2) == pytest.approx(8 * GRADIENT, rel=0.1)
    assert fast_done(held, 2) > 5 * 4 * GRADIENT  # its last step begins when the slow one has done five
    assert fast_done(free, 1) == pytest.approx(fast_done(held, 1), rel=0.05)


def clocks(bound: float, steps: list[int], infinite: bool = False) -> list[list[int]]:
    """The gradient of worker r is one in element r: what a worker gets tells the steps of all of them."""
    rank, seen = dist.get_rank(), list[list[int]]()

    def gradient(w: Tensor, step: int) -> Tensor:
        seen.append([int(-n) for n in w.tolist()])
        torch.mm(torch.zeros(64, 64), torch.zeros(64, 64))  # takes time on SLOW
        return torch.eye(len(w))[rank - 1]

    w = torch.zeros(len(steps))
    if infinite:
        asynchronous(gradient, w, steps[rank - 1] if rank else None, 1.0)
    else:
        parameter_server(gradient, w, steps[rank - 1] if rank else None, 1.0, bound)
    return seen


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bound", [0, 1, 2])
def test_nobody_is_more_than_the_bound_ahead_and_who_is_done_holds_nobody_back(bound: int) -> None:
    steps = [5, 2, 9, 0]
    _, *seen = run(clocks, bound, steps, ranks=5, on=SLOW).values
    ahead = 0
    for worker, of_worker in enumerate(seen):
        assert [clock[worker] for clock in of_worker] == list(range(steps[worker]))  # its own are there
        for step, clock in enumerate(of_worker):
            behind = [step - done for other, done in enumerate(clock) if done < steps[other] and other != worker]
            ahead = max(ahead, *behind, 0)
    assert ahead == bound


def test_an_infinite_bound_is_the_asynchronous_server() -> None:
    steps = [4, 6, 3]
    free, infinite = (run(clocks, math.inf, steps, flag, ranks=4, on=SLOW).values for flag in (False, True))
    assert free == infinite


def late(delay: bool, steps: int) -> Tensor:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if delay:
        return delayed(BOWLS.of(rank, ranks), BOWLS.start(), steps, 0.5)
    return delayed(DIGITS.of(rank, ranks), DIGITS.start(), steps, 0.1)


@pytest.mark.parametrize("ranks", [1, 3])
def test_delayed_sgd_is_one_step_behind_on_every_rank(ranks: int) -> None:
    values = run(late, True, 5, ranks=ranks, on="dgx-a100").values
    right = delayed_serially([BOWLS.of(rank, ranks) for rank in range(ranks)], BOWLS.start(), 5, 0.5)
    assert all(torch.allclose(w, right, rtol=0, atol=1e-14) for w in values)
    assert all(torch.equal(a, b) for a, b in pairwise(values))


def test_the_all_reduce_travels_while_the_next_gradient_is_computed() -> None:
    """In the trace: each all-reduce but the last ends before the gradient that was begun with it."""
    result = run(late, False, 5, ranks=3, on=cluster(beta=5e-8))
    reduces = [e for e in result.trace.of_rank(0) if e.kind == "all_reduce"]
    products = [e for e in result.trace.of_rank(0) if e.kind == "compute" and e.flops]
    assert len(reduces) == 5
    for reduce in reduces[:-1]:
        beside = [c for c in products if c.posted < reduce.end and c.end > reduce.start]
        assert beside, reduce
        assert reduce.wait == 0
    assert result.time == pytest.approx(5 * GRADIENT + reduces[-1].duration)


def sharded(servers: int, bound: float, steps: int, rate: float) -> Tensor:
    rank, workers = dist.get_rank() - servers, dist.get_world_size() - servers
    own = None if rank < 0 else steps
    return several_servers(DIGITS.of(max(0, rank), workers), DIGITS.start(), own, rate, bound, servers)


@pytest.mark.later
@pytest.mark.sampled(3)
@pytest.mark.parametrize("servers", [1, 2, 3])
def test_shards_of_several_servers_are_w_whatever_their_number(servers: int) -> None:
    values = run(sharded, servers, 0, 5, 0.5 / 3, ranks=servers + 3, on=SLOW).values
    right = one_step_after_the_other(3, 5, 0.5)
    assert torch.allclose(torch.cat(values[:servers]), right, rtol=0, atol=1e-14)


def in_a_group(members: list[int]) -> Tensor | None:
    group, rank = dist.new_group(members), dist.get_rank()
    if rank not in members:
        return None
    seat = members.index(rank)
    w = torch.zeros(2, 3, dtype=torch.float64)
    return parameter_server(lambda w, step: torch.full_like(w, seat), w, 2 if seat else None, 0.5, 1, group)


def test_the_server_of_a_group_is_its_rank_0() -> None:
    w = run(in_a_group, [1, 2, 4], ranks=5, on="dgx-a100").values[1]
    assert torch.equal(w, torch.full((2, 3), -0.5 * 2 * (1 + 2), dtype=torch.float64))
