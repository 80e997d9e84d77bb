"""Virtual streams, unequal ranks and links, and a job that fails: all in virtual time."""

from __future__ import annotations

import pytest

from lockstep.bottlenecks import failures, unequal
from lockstep.bottlenecks.streams import Step, Streams, train
from lockstep.cost.loading import best_interval, fed, goodput, workers_needed
from lockstep.errors import UsageError


def test_streams_are_in_order_and_beside_each_other() -> None:
    gpu = Streams(launch_seconds=1.0)
    arrived = gpu.launch("copy", "a", 5)  # 1 to 6
    gpu.launch("compute", "b", 3)  # 2 to 5
    gpu.launch("compute", "c", 3, after=[arrived])  # launched at 3, the copy ends at 6
    assert [(s.lane, s.begin, s.end) for s in gpu.spans if s.lane != "host"] == [
        ("copy", 1, 6), ("compute", 2, 5), ("compute", 6, 9),
    ]  # fmt: skip
    assert gpu.now == 3
    gpu.synchronize()
    assert gpu.now == gpu.time == 9
    assert gpu.waited() == 6
    assert gpu.busy("compute") == 6
    assert gpu.idle() == pytest.approx(1 / 3)


def test_a_pageable_copy_blocks_the_host() -> None:
    gpu = Streams(launch_seconds=0)
    gpu.blocking("compute", "copy", 4)
    assert gpu.now == gpu.waited() == 4


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_no_work_takes_less_than_nothing(bad: float) -> None:
    with pytest.raises(UsageError, match="Nothing takes"):
        Streams().launch("compute", "x", bad)


def test_the_host_is_no_stream() -> None:
    with pytest.raises(UsageError, match="no stream"):
        Streams().launch("host", "x", 1)


def test_overlap_hides_all_copies_but_the_first() -> None:
    step = Step(compute=10e-3, kernels=1, nbytes=100e6)  # 4 ms pinned, 8 ms pageable
    steps = 10
    pageable, pinned, overlapped = train(step, steps), train(step, steps, True), train(step, steps, True, True)
    assert pageable.time == pytest.approx(steps * 18e-3, rel=0.01)
    assert pinned.time == pytest.approx(steps * 14e-3, rel=0.01)
    assert overlapped.time == pytest.approx(4e-3 + steps * 10e-3, rel=0.01)


def test_a_slow_link_bounds_each_step_of_the_ring() -> None:
    sick, well = unequal.over_slow_link(5e9), unequal.healthy()
    rates = unequal.rates(sick.trace)
    assert min(rates, key=lambda link: rates[link]) in ((2, 3), (3, 2))
    assert max(unequal.computing(sick.trace)) == pytest.approx(min(unequal.computing(sick.trace)))
    assert sick.time > well.time


def test_a_straggler_computes_longer() -> None:
    seconds = unequal.computing(unequal.straggling(0.25).trace)
    assert seconds.index(max(seconds)) == 3
    assert seconds[3] == pytest.approx(4 * seconds[0])


def test_a_job_that_fails_comes_near_the_formula() -> None:
    write, between, restart = 60.0, 6 * 3600.0, 600.0
    interval = best_interval(write, between)
    lives = [failures.live(interval, write, between, restart, 30 * 24 * 3600, seed) for seed in range(20)]
    mean = sum(life.goodput for life in lives) / len(lives)
    assert mean == pytest.approx(goodput(interval, write, between, restart), rel=0.02)


def test_seconds_of_a_life_add_up() -> None:
    life = failures.live(1000, 10, 5000, 100, 50_000, seed=1)
    assert life.kept == 50_000
    assert life.writing == 50 * 10
    assert life.restarting == life.failures * 100
    assert life.lost <= life.failures * 1010


def test_a_job_that_would_not_end_is_told() -> None:
    with pytest.raises(UsageError, match="would not end"):
        failures.live(1000, 0, 1, 0, 10)


def test_youngs_interval_is_best() -> None:
    best = best_interval(60, 14_400)
    here, *others = (goodput(best * f, 60, 14_400, 600) for f in (1, 0.9, 1.1, 0.1, 10))
    assert all(here > other for other in others)


def test_a_loaders_budget() -> None:
    assert workers_needed(2500, 4e-3) == 10
    assert workers_needed(2501, 4e-3) == 11
    assert workers_needed(0.1, 1e-3) == 1
    assert fed(2500, 4e-3, 4) == pytest.approx(0.4)
    assert fed(2500, 4e-3, 16, cores=8) == pytest.approx(0.8)
    assert fed(2500, 4e-3, 16) == 1
    with pytest.raises(UsageError, match="above zero"):
        workers_needed(0, 1)
