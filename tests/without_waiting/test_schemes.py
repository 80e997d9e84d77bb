"""What the tables of unit 06's servers say: who wins under which stragglers, and what a server's ports cost."""

from __future__ import annotations

import math

import pytest

from lockstep.cost.data_parallel import all_reduce_step_seconds, saturated_from, served_seconds
from lockstep.errors import UsageError
from lockstep.experiments.without_waiting import ingress
from lockstep.experiments.without_waiting.backup_workers import compared
from lockstep.experiments.without_waiting.schemes import Reached, delayed_run, reached, stragglers, trained
from lockstep.experiments.without_waiting.straggler_trace import drawn
from lockstep.without_waiting.parameter_server import torn_table


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("workers", "servers"), [(2, 1), (16, 1), (24, 4), (4, 0)])
def test_a_step_takes_in_a_run_what_the_formula_says(workers: int, servers: int) -> None:
    step = ingress.step_of(workers, servers)
    assert step.seconds == pytest.approx(step.formula, rel=1e-4)


def test_a_server_is_saturated_from_where_more_workers_make_a_step_longer() -> None:
    for servers in (1, 4):
        of_link = ingress.NBYTES, ingress.COMPUTE, ingress.ALPHA, ingress.BETA
        full = saturated_from(servers, *of_link)
        few, just, many = (served_seconds(K, servers, *of_link) for K in (full - 1, full, 2 * full))
        assert few == served_seconds(1, servers, *of_link) <= just < many
        assert many == pytest.approx(2 * just)
        assert all_reduce_step_seconds(2 * full, ingress.NBYTES, ingress.COMPUTE, ingress.CLUSTER) < many


def test_without_servers_there_is_nobody_to_serve() -> None:
    with pytest.raises(UsageError, match="0 servers"):
        served_seconds(2, 0, 1.0, 1.0, 1.0, 1.0)


def found(name: str, now_and_then: bool) -> Reached:
    result = reached(trained(name, *stragglers(4.0, now_and_then)))
    assert result is not None
    return result


@pytest.mark.slow
def test_a_bound_helps_against_who_is_late_now_and_then() -> None:
    waiting, bounded = found("synchronous server", True), found("bound = 3", True)
    assert bounded.seconds < 0.6 * waiting.seconds


@pytest.mark.slow
def test_only_who_never_waits_is_rid_of_who_is_always_slow() -> None:
    waiting, free = found("all-reduce", False), found("asynchronous", False)
    assert free.seconds < waiting.seconds / 3
    assert waiting.seconds / waiting.gradients == pytest.approx(4e-3 / 8, rel=0.1)  # 4 ms for 8 gradients


@pytest.mark.slow
def test_backup_workers_get_back_what_stragglers_cost_and_no_gradient_is_stale() -> None:
    rows = {one.scheme: one for one in compared(backups=(0, 2))}
    waiting, backed, free = rows["synchronous"], rows["2 backup workers"], rows["asynchronous"]
    assert backed.seconds < 0.7 * waiting.seconds
    assert backed.seconds < 1.1 * free.seconds
    assert waiting.thrown_away == 0 < backed.thrown_away < backed.gradients / 10
    assert free.staleness > 20 > backed.staleness == 0
    assert free.updates == free.gradients > backed.gradients


def test_the_trace_of_stragglers_is_fixed() -> None:
    assert drawn(3, 5, 2.0, seed=1) == drawn(3, 5, 2.0, seed=1) != drawn(3, 5, 2.0, seed=2)
    late = [seconds for of_worker in drawn(20, 200, 2.0) for seconds in of_worker]
    assert set(late) == {0.0, 2.0}
    assert math.isclose(sum(late) / len(late), 0.2, rel_tol=0.2)


def test_with_delay_all_but_the_last_all_reduce_are_hidden() -> None:
    with_delay, without = delayed_run(True), delayed_run(False)
    (last, *_) = {e.duration for e in with_delay.trace.of_kind("all_reduce")}
    assert without.time - with_delay.time == pytest.approx(3 * last)


def test_some_w_of_several_servers_never_was_the_value_of_the_parameters() -> None:
    told = [row[-1] for row in torn_table().rows]
    assert told[0] == "yes"
    assert "no" in told
