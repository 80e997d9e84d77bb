"""The check of `delete_the_lock`: what threads do is seen, whatever the machine does besides."""

from __future__ import annotations

import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from lockstep.checks.evidence_rules import first
from lockstep.exercises.without_waiting.delete_the_lock.exercise import COSTS, RULES, TASKS
from lockstep.exercises.without_waiting.threads_on_one_vector import RATE, SIZE, WAYS, Task, compared, observed
from lockstep.without_waiting.lock_free import delete_the_lock, one_lock, run_together

SHARING = Task(5, 14, 3, parted=False)
PARTED = Task(5, 9, 2, parted=True)


def right(found: dict[str, Any], task: Task) -> bool:
    given, held = task.foreseen()
    return (found["given"], found["held"], found["failed"]) == (given, held, "")


@pytest.mark.slow
def test_beside_two_busy_loops_nobody_is_told_to_wait() -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for shape in TASKS.values():
            assert right(observed(delete_the_lock, Task(5, *shape)), Task(5, *shape))
    finally:
        for loop in busy:
            loop.kill()
            loop.wait()


def test_the_given_program_is_right_and_keeps_everybody_out() -> None:
    found = observed(one_lock, Task(5, 3, 5, parted=True))
    assert (found["failed"], found["most"], found["dense"], found["late"]) == ("together", 1, True, False)
    assert found["held"] == Task(5, 3, 5, parted=True).foreseen()[1]


@pytest.mark.parametrize("seed", range(20))
def test_each_wrong_way_reads_other_values(seed: int) -> None:
    task = Task(seed, *TASKS["3 threads that share coordinates, 14 examples"])
    read = [str(task.foreseen(way)[0]) for way in ("", *WAYS)]
    assert len(set(read)) == len(read)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("told", TASKS)
def test_all_sums_are_exact_and_every_update_shows(told: str, seed: int) -> None:
    task = Task(seed, *TASKS[told])
    given, held = task.foreseen()
    assert all((4 * v).is_integer() and abs(v) < 2**40 for of_example in held for v in of_example)
    assert all((task.gradient(i, np.array(values)) != 0).all() for i, values in enumerate(given))


def test_threads_have_coordinates_of_their_own_where_the_text_says_so() -> None:
    drawn, _ = PARTED.draw()
    even, odd = (set(np.concatenate(drawn[t::2]).tolist()) for t in range(2))
    assert not even & odd
    drawn, _ = SHARING.draw()
    last = [set(c.tolist()) for c in drawn[-3:]]
    earlier = set(np.concatenate(drawn[:-3]).tolist())
    assert len(earlier) == 8
    assert not any(a & b for a in last for b in [earlier, *(c for c in last if c is not a)])


def test_an_error_in_a_thread_is_raised_and_python_is_left_as_it_was() -> None:
    """Threads print theirs and forget it: the learner would have been told that examples are missing."""
    hook = threading.excepthook

    def raises(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        run_together(lambda t: w[None, "x"], threads)

    with pytest.raises(IndexError):
        observed(raises, PARTED)
    assert threading.excepthook is hook
    assert not tracemalloc.is_tracing()


def stepping(write: Any) -> Any:
    def trained(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        def train(t: int) -> None:
            for i in range(t, len(coordinates), threads):
                c = coordinates[i]
                write(w, c, rate * gradient(i, w[c]))

        run_together(train, threads)

    return trained


def whole(w: Any, c: Any, step: Any) -> Any:
    full = np.zeros(len(w))
    full[c] = step
    return full


def puts_back(w: Any, c: Any, step: Any) -> None:
    new = w.copy()
    new[c] -= step
    w[:] = new


@pytest.mark.parametrize(
    "write",
    [
        lambda w, c, step: np.subtract(w, whole(w, c, step), out=w),
        lambda w, c, step: np.subtract(np.asarray(w), whole(w, c, step), out=np.asarray(w)),
        lambda w, c, step: w.__setitem__(slice(None), w - whole(w, c, step)),
        puts_back,
    ],
)
def test_whoever_writes_all_of_w_is_seen(write: Any) -> None:
    found = observed(stepping(write), PARTED)
    assert found["dense"]
    assert found["bytes"] > 8 * SIZE


@pytest.mark.parametrize(
    "write",
    [
        lambda w, c, step: np.subtract.at(w, c, step),
        lambda w, c, step: np.put(w, c, w.take(c) - step),
        lambda w, c, step: [w.__setitem__(v, w[v] - s) for v, s in zip(c, step, strict=True)],
    ],
)
def test_any_way_to_write_the_own_coordinates_is_right(write: Any) -> None:
    for task in (SHARING, PARTED):
        found = observed(stepping(write), task)
        assert right(found, task)
        assert not found["dense"]
        assert found["bytes"] < 1_000_000


def locked(number: int) -> Any:
    """A lock for each coordinate modulo ``number``, taken in order, for the write alone."""

    def trained(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        locks = [threading.Lock() for _ in range(number)]

        def train(t: int) -> None:
            for i in range(t, len(coordinates), threads):
                g = gradient(i, w[coordinates[i]])
                with ExitStack() as held:
                    for n in sorted({int(c) % number for c in coordinates[i]}):
                        held.enter_context(locks[n])
                    w[coordinates[i]] -= rate * g

        run_together(train, threads)

    return trained


@pytest.mark.later
@pytest.mark.parametrize("number", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (16, 20))])
def test_a_lock_for_some_of_the_coordinates_is_seen(number: int) -> None:
    assert observed(locked(number), PARTED)["failed"] == "writes"


@pytest.mark.slow
def test_a_lock_for_each_coordinate_is_seen_by_its_bytes() -> None:
    found = observed(locked(SIZE), PARTED)
    assert right(found, PARTED)
    assert found["bytes"] > 8 * SIZE


def test_a_view_of_w_is_an_array_like_any_other() -> None:
    def trained(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        assert isinstance(w, np.ndarray)
        assert (w.dtype, rate) == (np.float64, RATE)
        assert type(w[coordinates[0]] + 1).__name__ == "ndarray"
        delete_the_lock(gradient, coordinates, w.reshape(-1), rate, threads)

    assert right(observed(trained, PARTED), PARTED)


@pytest.mark.parametrize("rule", [*RULES, *COSTS], ids=lambda rule: rule.misconception)
def test_each_sentence_has_its_fields(rule: Any) -> None:
    evidence = {
        "alive": 4,
        "misused": "x",
        "missing": 1,
        "twice": 1,
        "threads": 3,
        "taken": [[0]],
        "most": 1,
        "together": 3,
    }
    told = rule.told.format_map(evidence | {"off": 1, "old": 1, "last": 1, "bytes": 1})
    assert told.endswith(".")
    assert "{" not in told


def test_threads_of_a_round_use_the_same_places_of_their_own_parts() -> None:
    """Each thread drew its own: one that took a lock for each i % 64 met nobody at its first write, and passed."""
    task = Task(5, *TASKS["2 threads that share no coordinate, 9 examples"])
    drawn, _ = task.draw()
    assert [at % 64 for at in drawn[0].tolist()] == [at % 64 for at in drawn[1].tolist()]


def test_a_step_that_reads_all_of_w_is_seen() -> None:
    """The text says that a step reads w at the places of its example; nobody looked."""

    def looks(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        for i, c in enumerate(coordinates):
            g = gradient(i, w[c])
            w[c] -= rate * g * bool(w.any())

    task = Task(5, *TASKS["1 thread, 7 examples"])
    assert observed(looks, task)["reads"]
    assert not observed(delete_the_lock, task)["reads"]


@pytest.mark.parametrize("workers", [4, 8, 32])
def test_a_pool_in_which_a_thread_waits_for_a_place_is_seen(workers: int) -> None:
    """No case had more than three threads in gradient() at once: a pool of four passed. A usual one has up to 32."""

    def pooled(gradient: Any, coordinates: Any, w: Any, rate: float, threads: int) -> None:
        def train(t: int) -> None:
            for i in range(t, len(coordinates), threads):
                g = gradient(i, w[coordinates[i]])
                w[coordinates[i]] -= rate * g

        with ThreadPoolExecutor(min(workers, threads)) as pool:
            list(pool.map(train, range(threads)))

    task = Task(5, *TASKS["40 threads, 40 examples"])
    fault = first(RULES, compared(observed(pooled, task), task))
    assert fault is not None
    assert (fault.misconception, f"no more than {workers} threads" in fault.message) == ("too-few-threads", True)
    assert right(observed(delete_the_lock, task), task)
