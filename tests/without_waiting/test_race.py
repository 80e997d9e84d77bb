"""The race: what is counted, what is recorded, and that a run gives what is recorded."""

import csv
import math
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch import Tensor

from lockstep.errors import UsageError
from lockstep.events import Event
from lockstep.experiments.without_waiting.race import (
    LINKS,
    METHODS,
    STRAGGLERS,
    Method,
    Path,
    arrival,
    race,
    reached,
    sent,
    states,
    train,
    tune,
)
from lockstep.machines import Link
from lockstep.show.race_results import RANKS, TARGET, TIMES, Arrival, Race, recorded, written
from lockstep.without_waiting import problems
from lockstep.without_waiting.problems import cluster
from lockstep.worlds import run

NAMES = [method.name for method in METHODS]
AT = {(a.straggler, a.link, a.method): a for one in recorded() for a in one.arrivals}


def test_every_setting_is_recorded_with_every_method() -> None:
    assert [(one.straggler, one.link) for one in recorded()] == [(s, link) for s in STRAGGLERS for link in LINKS]
    assert all([a.method for a in one.arrivals] == NAMES for one in recorded())
    assert written(recorded()) == TIMES.read_text(encoding="utf-8")


def test_all_that_is_recorded_as_reached_is_at_most_the_target() -> None:
    assert all(a.seconds is None or a.loss <= TARGET for a in AT.values())


def test_what_all_wait_for_each_step_takes_as_many_updates_whatever_the_machines() -> None:
    for method in ("synchronous", "delayed by a step", "top-k, 20 of 650"):
        assert len({(a.updates, a.nbytes) for a in AT.values() if a.method == method}) == 1


def test_no_method_is_first_everywhere_and_none_is_cheapest_in_everything() -> None:
    """What the figure is for."""
    first = {min(one.arrivals, key=lambda a: a.seconds or math.inf).method for one in recorded()}
    assert len(first) >= 3
    for one in recorded():
        least = [
            min(one.arrivals, key=of).method
            for of in (lambda a: a.seconds or math.inf, lambda a: a.nbytes, lambda a: a.updates)
        ]
        assert len(set(least)) >= 2, one


def test_the_synchronous_time_is_steps_of_the_straggler_and_all_reduces() -> None:
    """31 steps of 8 gradients: each takes the straggler's millisecond or more, and an all-reduce."""
    alone = AT[1, "fast", "synchronous"]
    assert (alone.updates, alone.nbytes) == (248, 31 * 2 * (RANKS - 1) * 5200)
    for straggler in STRAGGLERS:
        seconds = AT[straggler, "fast", "synchronous"].seconds
        assert seconds is not None
        assert alone.seconds is not None
        assert seconds - alone.seconds == pytest.approx(31 * 1e-3 * (straggler - 1))


@pytest.mark.slow
def test_a_run_gives_what_is_recorded() -> None:
    """Of one method; the slow test has all of them."""
    assert_recorded(race(4, "slow", METHODS[:1]).arrivals[0])


@pytest.mark.slow
def test_a_whole_race_gives_what_is_recorded() -> None:
    for found in race(16, "very slow").arrivals:
        assert_recorded(found)


def on_another_processor(method: Method, seed: int) -> Path:
    """Trains there: each element of a gradient is off by a bit or two."""
    here = problems.softmax_gradient

    def otherwise(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        exact = here(w, x, y)
        noise = torch.rand(exact.shape, dtype=exact.dtype, generator=torch.Generator().manual_seed(seed))
        return exact * (1 + 1e-15 * (noise - 0.5))

    with patch.object(problems, "softmax_gradient", otherwise):  # in the process of the virtual cluster
        return train(method)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_top_k_takes_as_long_on_a_processor_that_rounds_otherwise(seed: int) -> None:
    """It took 232 updates on an Intel processor and 208 on an AMD: many elements of a gradient are equal, and the last
    bit, which is the processor's, chose among them."""
    topk = METHODS[-1]
    result = run(on_another_processor, topk, seed, ranks=RANKS, on=cluster())
    there, _ = reached(states(topk.has, result.values))
    assert there is not None
    assert sum(t < there for times, _ in result.values for t in times) == AT[1, "fast", topk.name].updates


@pytest.mark.slow
def test_a_method_has_the_rate_with_which_it_took_the_fewest_updates() -> None:
    for method in METHODS:
        found = {rate: updates for rate, updates in tune(method).items() if updates is not None}
        assert found[method.rate] == min(found.values()), (method.name, found)


def assert_recorded(found: Arrival) -> None:
    kept = AT[found.straggler, found.link, found.method]
    assert (found.seconds, found.nbytes, found.updates) == (kept.seconds, kept.nbytes, kept.updates)
    assert found.loss == pytest.approx(kept.loss, abs=1e-4)


def test_a_loss_that_is_not_reached_is_said() -> None:
    method = METHODS[0]
    short = type(method)(method.name, method.train, method.rate, steps=5)
    found = arrival(short, 1, "fast", LINKS["fast"])
    assert found.seconds is None
    assert found.updates == 5 * RANKS
    assert found.loss > TARGET
    rows = Race(1, "fast", [found]).table().rows
    assert rows[0][1] == f"loss {found.loss:.2f} after 40 updates"
    (row,) = csv.DictReader(line for line in written([Race(1, "fast", [found])]).splitlines() if line[0] != "#")
    assert row["seconds"] == ""


def test_a_collective_counts_as_the_least_that_a_rank_must_send() -> None:
    assert sent(Event(0, "all_reduce", 0, 1, nbytes=800)) == 1400
    assert sent(Event(0, "all_gather", 0, 1, nbytes=800)) == 700
    assert sent(Event(0, "send", 0, 1, nbytes=800)) == 800
    assert sent(Event(0, "recv", 0, 1, nbytes=800)) == sent(Event(0, "compute", 0, 1)) == 0


def test_whose_parameters_count() -> None:
    def path(times: list[float], ws: list[float]) -> tuple[list[float], np.ndarray]:
        return times, np.array(ws)[:, None]

    paths = [path([0, 2], [0, 4]), path([0, 1, 2], [0, 2, 6])]
    told = {has: [(now, w.item()) for now, w in states(has, paths)] for has in ("share", "mean", "server")}
    assert told["share"] == [(0, 0), (2, 4)]
    assert told["mean"] == [(0, 0), (1, 1), (2, 5)]
    assert told["server"] == [(0, 0), (0, 0), (1, 2), (2, 4), (2, 6)]


@pytest.mark.parametrize(("straggler", "link"), [(0.5, "slow"), (math.inf, "slow"), (4, "wire")])
def test_a_setting_without_sense_is_refused(straggler: float, link: str) -> None:
    with pytest.raises(UsageError, match=r"straggler|link"):
        race(straggler, link)


def test_a_link_of_ones_own_is_told() -> None:
    one = race(1, Link(1e-6, 1e-10), METHODS[:0])
    assert one.link == "α = 1e-06 s, 10000 MB/s"
