"""What is seen of joblib: calls, workers, tasks, bytes; processes are told from threads by copies."""

from __future__ import annotations

import threading
import traceback
from typing import Any

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed

from lockstep.exercises.scikit_learn.joblib_tasks import Refused, recorded, task_here


def test_calls_workers_and_tasks_are_counted() -> None:
    with recorded() as handed:
        assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(5)) == [0, 1, 2, 3, 4]
        Parallel(n_jobs=3, prefer="threads")(delayed(abs)(i) for i in range(2))
        assert Parallel(n_jobs=1)(delayed(abs)(i) for i in range(2)) == [0, 1]
    assert [(call["n_jobs"], call["tasks"]) for call in handed.calls] == [(2, 5), (3, 2), (1, 0)]
    assert not handed.explains


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


def test_results_come_as_they_were_asked_for() -> None:
    with recorded() as handed, Parallel(n_jobs=2, return_as="generator") as parallel:
        found = parallel(delayed(abs)(-i) for i in range(3))
        assert iter(found) is found
        assert list(found) == [0, 1, 2]
    assert [call["tasks"] for call in handed.calls] == [3]


def test_bytes_there_and_back_are_counted() -> None:
    part = np.zeros(1000)
    with recorded() as handed:
        Parallel(n_jobs=2)(delayed(np.sum)(part) for _ in range(4))
        Parallel(n_jobs=2)(delayed(np.zeros)(n) for n in (10, 1000))
    first, second = handed.calls
    assert 4 * 8000 <= first["sent"] < 4 * 8000 + 4000
    assert first["returned"] < 500
    assert 8000 <= second["returned"] < 8500


def test_bytes_count_on_threads_too() -> None:
    """A learner's k-means on threads gave all rows to every task and got labels back: nobody noticed."""
    part = np.zeros(1000)
    with recorded() as handed:
        Parallel(n_jobs=2, prefer="threads")(delayed(np.copy)(part) for _ in range(4))
        Parallel(n_jobs=2, prefer="threads")(delayed(id)(threading.Lock()) for _ in range(4))  # cannot be sent
    first, second = handed.calls
    assert 4 * 8000 <= first["sent"] < 4 * 8000 + 4000
    assert 8000 <= first["returned"] < 8500
    assert (second["sent"], second["tasks"]) == (0, 4)


def test_workers_are_threads_of_this_process_and_run_at_once() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet(barrier: Any) -> int:
        return barrier.wait()

    with recorded():
        assert sorted(Parallel(n_jobs=3, prefer="threads")(delayed(meet)(together) for _ in range(3))) == [0, 1, 2]


def test_joblib_is_as_it_was_afterwards() -> None:
    before = [vars(Parallel)[name] for name in ("__call__", "__enter__", "__exit__")]
    with pytest.raises(ZeroDivisionError), recorded():
        Parallel(n_jobs=2)(delayed(divmod)(1, 0) for _ in range(2))
    assert before == [vars(Parallel)[name] for name in ("__call__", "__enter__", "__exit__")]
    assert task_here() is None


@pytest.mark.parametrize("prefer", ["processes", "threads"])
def test_what_a_task_raises_leads_to_its_own_line(prefer: str) -> None:
    """Only the line with Parallel was shown: nobody could tell where in the task it went wrong."""

    def share(n: int) -> float:
        return 1 / n

    with pytest.raises(ZeroDivisionError) as raised, recorded():
        Parallel(n_jobs=2, prefer=prefer)(delayed(share)(n) for n in (2, 0))
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[-1] == "share"
    assert names.count("share") == 1
    assert names[0] == "test_what_a_task_raises_leads_to_its_own_line"


def test_an_error_may_follow_from_tasks_without_results() -> None:
    def first(prefer: str) -> int:
        results: dict[int, int] = {}
        Parallel(n_jobs=2, prefer=prefer)(delayed(results.update)({i: i}) for i in range(1, 3))
        return results[0]

    for prefer, lost in (("processes", True), ("threads", False)):
        with recorded() as handed, pytest.raises(KeyError):
            first(prefer)
        assert handed.lost == handed.explains == lost


def test_workers_may_be_given_a_number_of_inner_threads() -> None:
    """`_Recording does not accept setting the inner_max_num_threads argument`, said an AssertionError: loky does."""
    with recorded() as handed, joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(3)) == [0, 1, 2]
    assert [(call["n_jobs"], call["tasks"]) for call in handed.calls] == [(2, 3)]


def test_who_calls_parallel_is_told() -> None:
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    with recorded() as handed:
        Parallel(n_jobs=2)(delayed(abs)(i) for i in range(2))
        cross_val_score(DecisionTreeClassifier(), X, y, cv=3, n_jobs=2)
    assert [call["by"] for call in handed.calls] == [__name__, "sklearn.model_selection._validation"]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("items", "refused"), [
    ([1.5, 2.5], ["value", "a float"]),
    ([delayed(0.5) for _ in range(2)], ["value", "a float"]),
    ([np.zeros(3)] * 2, ["value", "an ndarray"]),  # three items, too, but no task
    ([delayed(abs)] * 2, ["no arguments", "abs"]),
    (delayed(abs)(-1), ["one task", "a builtin_function_or_method"]),
    ([(0.5, (), {})] * 2, ["function", "a float"]),
])  # fmt: skip
def test_what_is_no_task_is_noted_as_what_it_is(items: Any, refused: list[str], n_jobs: int) -> None:
    """ "cannot unpack non-iterable float object", said joblib to a learner who had forgotten `delayed`."""
    with recorded() as handed, pytest.raises(Refused):
        Parallel(n_jobs=n_jobs)(items)
    assert handed.refused == refused


def test_what_cannot_be_copied_is_named() -> None:
    """A learner with a lock in a task read "cannot pickle '_thread.lock' object", and took it for a fault of joblib."""
    for culprit, told in ((threading.Lock(), "a lock"), ((i for i in range(3)), "a generator")):
        with recorded() as handed, pytest.raises(Refused):
            Parallel(n_jobs=2)(delayed(id)(thing) for thing in [culprit] * 2)
        assert handed.refused == ["stuck", told]
    with recorded() as handed, pytest.raises(Refused):
        Parallel(n_jobs=2)(delayed(threading.Lock)() for _ in range(2))
    assert handed.refused == ["stuck result", "a lock"]
    with recorded():
        assert len(Parallel(n_jobs=2, prefer="threads")(delayed(threading.Lock)() for _ in range(2))) == 2


def test_every_task_may_be_made_to_return_what_the_first_one_did() -> None:
    with recorded(alike=True) as handed:
        assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(1, 4)) == [1, 1, 1]
        assert Parallel(n_jobs=1)(delayed(abs)(-i) for i in range(1, 4)) == [1, 2, 3]  # these are no tasks
    assert not handed.silent


def test_tasks_that_all_return_nothing_are_silent_on_threads_too() -> None:
    for prefer in ("threads", "processes"):
        with recorded() as handed:
            Parallel(n_jobs=2, prefer=prefer)(delayed([].append)(i) for i in range(3))
        assert handed.silent
        assert handed.lost == (prefer == "processes")
