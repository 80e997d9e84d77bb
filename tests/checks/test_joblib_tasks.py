"""What a check of unit 01 sees of joblib: calls, workers, tasks, bytes; processes are told from threads by copies."""

from __future__ import annotations

import threading
from typing import Any

import joblib.parallel
import numpy as np
import pytest
from joblib import Parallel, delayed

from lockstep.checks.scikit_learn.room import Fit, Room
from lockstep.checks.scikit_learn.tasks import recorded
from lockstep.errors import UsageError


def test_calls_workers_and_tasks_are_counted() -> None:
    with recorded() as log:
        assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(5)) == [0, 1, 2, 3, 4]
        Parallel(n_jobs=3, prefer="threads")(delayed(abs)(i) for i in range(2))
    assert [(entry["n_jobs"], entry["tasks"]) for entry in log] == [(2, 5), (3, 2)]


def test_a_task_for_processes_works_on_a_copy() -> None:
    seen: list[int] = []
    with recorded():
        Parallel(n_jobs=2)(delayed(seen.append)(i) for i in range(3))
    assert seen == []
    with recorded():
        Parallel(n_jobs=2, prefer="threads")(delayed(seen.append)(i) for i in range(3))
        Parallel(n_jobs=2, require="sharedmem")(delayed(seen.append)(i) for i in range(3, 5))
        Parallel(n_jobs=2, backend="threading")(delayed(seen.append)(5) for _ in range(1))
    assert sorted(seen) == [0, 1, 2, 3, 4, 5]


def test_bytes_there_and_back_are_counted() -> None:
    part = np.zeros(1000)
    with recorded() as log:
        Parallel(n_jobs=2)(delayed(np.sum)(part) for _ in range(4))
        Parallel(n_jobs=2)(delayed(np.zeros)(n) for n in (10, 1000))
    assert 4 * 8000 <= log[0]["sent"] < 4 * 8000 + 4000
    assert log[0]["returned"] < 500
    assert 8000 <= log[1]["returned"] < 8500


def test_workers_are_threads_of_this_process_and_run_at_once() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet(barrier: Any) -> int:
        return barrier.wait()

    with recorded():
        assert sorted(Parallel(n_jobs=3, prefer="threads")(delayed(meet)(together) for _ in range(3))) == [0, 1, 2]


def test_joblib_is_as_it_was_afterwards() -> None:
    before = dict(joblib.parallel.BACKENDS)
    with pytest.raises(ZeroDivisionError), recorded():
        Parallel(n_jobs=2)(delayed(divmod)(1, 0) for _ in range(2))
    assert before == joblib.parallel.BACKENDS


@pytest.mark.parametrize(("fits", "cores", "outer", "inner", "most"), [
    (4, 4, 4, 4, 16),  # everyone believes that the machine is his own
    (4, 4, 4, 1, 4),
    (2, 8, 2, 4, 8),
    (9, 4, 4, 1, 4),
    (3, 8, 3, 2, 6),
    (3, 2, 1, 2, 2),
])  # fmt: skip
def test_the_room_counts_threads_that_are_alive_at_once(
    fits: int, cores: int, outer: int, inner: int, most: int
) -> None:
    room = Room(fits, cores)
    results = Parallel(n_jobs=outer, prefer="threads")(delayed(Fit(room, i))(inner) for i in range(fits))
    assert results == list(range(fits))
    assert room.asked == [inner] * fits
    assert room.history[-1] == 0
    assert cores < max(room.history) <= most if most > cores else max(room.history) == most


def test_a_fit_says_why_it_cannot_go_to_another_process() -> None:
    with recorded(), pytest.raises(UsageError, match="objects of this process"):
        Parallel(n_jobs=2)(delayed(Fit(Room(2, 2), i))(1) for i in range(2))
