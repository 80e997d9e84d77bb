"""Tasks that wait for each other: what no number of workers makes shorter, and who takes what."""

from __future__ import annotations

import itertools
import random

import pytest

from lockstep.cost.tasks import TRAINING, Task, critical_path, earliest_ends, minutes_on, schedule, work
from lockstep.errors import UsageError


def drawn(seed: int, count: int = 20) -> list[Task]:
    dice = random.Random(seed)
    return [
        Task(str(i), dice.randint(1, 9), tuple(str(j) for j in range(i) if dice.random() < 0.15)) for i in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_a_schedule_keeps_every_arrow_and_grahams_bound(seed: int, workers: int) -> None:
    job = drawn(seed)
    done = {one.task.name: one for one in schedule(job, workers)}
    assert set(done) == {task.name for task in job}
    for one in done.values():
        assert all(done[name].end <= one.start for name in one.task.after)
        others = [o for o in done.values() if o.worker == one.worker and o is not one]
        assert all(o.end <= one.start or o.start >= one.end for o in others)
    longest = max(earliest_ends(job).values())
    least = max(longest, work(job) / workers)
    assert least <= minutes_on(job, workers) <= longest + (work(job) - longest) / workers
    assert minutes_on(job, 1) == work(job)


def test_the_critical_path_is_a_chain_and_many_workers_reach_it() -> None:
    job = drawn(3)
    chain, named = critical_path(job), {task.name: task for task in job}
    assert all(a in named[b].after for a, b in itertools.pairwise(chain))
    assert sum(named[name].minutes for name in chain) == max(earliest_ends(job).values()) == minutes_on(job, len(job))


def test_what_the_lesson_says_of_its_job() -> None:
    assert (len(TRAINING), work(TRAINING)) == (12, 30)
    assert critical_path(TRAINING) == ["read", "split", "clean D", "learn D", "add", "test"]
    assert [minutes_on(TRAINING, workers) for workers in (1, 2, 3, 100)] == [30, 19, 15, 15]


def test_whoever_is_free_takes_the_next_product() -> None:
    products = [Task(str(i), 1) for i in range(256)]
    assert minutes_on(products, 8) == 32
    assert minutes_on(products, 8, [1] * 7 + [0.5]) == 35


def test_no_task_waits_for_one_below_it_and_somebody_works() -> None:
    with pytest.raises(UsageError, match="“a” waits for “b”, which no task above it is"):
        schedule([Task("a", 1, ("b",)), Task("b", 1, ("a",))], 2)
    with pytest.raises(UsageError, match="at least 1 worker, not 0"):
        schedule(TRAINING, 0)
    assert minutes_on([], 3) == 0
    assert critical_path([]) == []
