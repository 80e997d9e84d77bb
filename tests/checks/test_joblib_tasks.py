"""What a check of unit 01 sees of joblib: calls, workers, tasks, bytes; processes are told from threads by copies."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from typing import Any

import joblib
import joblib.parallel
import numpy as np
import pytest
from joblib import Parallel, delayed

from lockstep import checks
from lockstep.checks.exercise import find
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.plain import Other
from lockstep.checks.scikit_learn import classify, forest
from lockstep.checks.scikit_learn.fits import fits_counted, fitted_beforehand
from lockstep.checks.scikit_learn.folds import Folds
from lockstep.checks.scikit_learn.handed import copied
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


def test_bytes_count_on_threads_too() -> None:
    """A learner's k-means on threads gave all rows to every task and got labels back: nobody noticed."""
    part = np.zeros(1000)
    with recorded() as log:
        Parallel(n_jobs=2, prefer="threads")(delayed(np.copy)(part) for _ in range(4))
        Parallel(n_jobs=2, prefer="threads")(delayed(id)(threading.Lock()) for _ in range(4))  # cannot be sent
    assert 4 * 8000 <= log[0]["sent"] < 4 * 8000 + 4000
    assert 8000 <= log[0]["returned"] < 8500
    assert log[1]["sent"] == 0
    assert log[1]["tasks"] == 4


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


def test_an_error_that_follows_from_tasks_without_results_says_so() -> None:
    def first(prefer: str) -> int:
        results: dict[int, int] = {}
        Parallel(n_jobs=2, prefer=prefer)(delayed(results.update)({i: i}) for i in range(1, 3))
        return results[0]

    with pytest.raises(UsageError, match="Your tasks return nothing"), recorded():
        first("processes")
    with pytest.raises(KeyError), recorded():
        first("threads")


def test_workers_may_be_given_a_number_of_inner_threads() -> None:
    """`_Recording does not accept setting the inner_max_num_threads argument`, said an AssertionError: loky does."""
    with recorded() as log, joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        assert Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(3)) == [0, 1, 2]
    assert [(entry["n_jobs"], entry["tasks"]) for entry in log] == [(2, 3)]


def test_who_calls_parallel_is_told() -> None:
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    with recorded() as log:
        Parallel(n_jobs=2)(delayed(abs)(i) for i in range(2))
        cross_val_score(DecisionTreeClassifier(), X, y, cv=3, n_jobs=2)
    assert [entry["by"] for entry in log] == [__name__, "sklearn.model_selection._validation"]


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
    assert room.most_fits == outer
    assert room.history[-1] == 0
    assert cores < max(room.history) <= most if most > cores else max(room.history) == most


def test_a_fit_says_why_it_cannot_go_to_another_process() -> None:
    with recorded(), pytest.raises(UsageError, match="objects of this process"):
        Parallel(n_jobs=2)(delayed(Fit(Room(2, 2), i))(1) for i in range(2))


def test_a_measurement_that_misleads_once_costs_nothing() -> None:
    """Once in ten runs on a busy machine a right answer took threads for processes, and lost all its points."""
    answers = iter(["openmp", "serial"])

    def misled_once(measure: Any) -> str:
        measure()
        return next(answers)

    assert classify._watch(misled_once, ("serial",))["answer"] == "serial"
    assert classify._watch(lambda measure: str(measure(openmp=2) and "blas"), ("serial",))["answer"] == "blas"


@pytest.mark.parametrize(("items", "told"), [
    ([1.5, 2.5], "Parallel was handed no task but a float"),
    ([delayed(0.5) for _ in range(2)], "Parallel was handed no task but a float"),
    ([np.zeros(3)] * 2, "Parallel was handed no task but an ndarray"),  # three items, too, but no task
    ([delayed(abs)] * 2, r"Parallel was handed delayed\(abs\), which is no task yet"),
    (delayed(abs)(-1), "Parallel was handed one task"),
    ([(0.5, (), {})] * 2, "delayed was handed a float, not a function"),
])  # fmt: skip
def test_what_is_no_task_is_told_as_what_it_is(items: Any, told: str) -> None:
    """ "cannot unpack non-iterable float object", said joblib to a learner who had forgotten `delayed`."""
    with recorded(), pytest.raises(UsageError, match=told):
        Parallel(n_jobs=2)(items)


def test_what_cannot_be_copied_is_named() -> None:
    """A learner with a lock in a task read "cannot pickle '_thread.lock' object", and took it for a fault of joblib."""
    with pytest.raises(UsageError, match=r"names, a lock.\nTasks in processes share nothing, so they need no lock"):
        copied([threading.Lock()])
    with pytest.raises(UsageError, match=r"names, a generator.\nGive it only numbers"):
        copied([(i for i in range(3))])
    with recorded(), pytest.raises(UsageError, match=r"What a task returns cannot be copied back.*it holds a lock"):
        Parallel(n_jobs=2)(delayed(threading.Lock)() for _ in range(2))
    with recorded():
        assert len(Parallel(n_jobs=2, prefer="threads")(delayed(threading.Lock)() for _ in range(2))) == 2


def test_a_lock_that_is_never_released_is_not_told_as_a_loop() -> None:
    """The caller stood in Parallel, in wait for its tasks, and was asked whether its loops end."""
    where, source = "lab.py, line 8", "Parallel(n_jobs=n_jobs)(tasks)"
    told = f"your function did not end within 15 seconds. It stood at {where}: {source}"
    ask = "Does every loop end? Look at what should change in each turn."
    exercise = find("scikit_learn.parallel_forest")
    (case,) = exercise.cases(1, 0)
    hung = Seen(case, failure=Failure("TimeLimit", told, remedy=ask, where=where, source=source))
    (finding,) = checks.score_of(exercise, Observation(exercise.id, "processes", seen=(hung,))).findings
    assert finding.misconception == "crashed:TimeLimit"
    assert "such as a lock that another task has taken and not released" in finding.message
    assert ask not in finding.message


def test_folds_notice_that_they_are_asked_for_again() -> None:
    X = np.zeros((6, 2))
    cv = Folds(3, seed=0)
    folds = cv.split(X)
    assert len(list(folds)) == 3
    assert not cv.used_up
    assert list(folds) == []
    assert cv.used_up
    pairs = Folds(3, seed=0).split(X)
    assert [len(test) for _, test in zip([1], pairs, strict=False) for test in [next(pairs)[1]]] == [2]
    with pytest.raises(TypeError, match="make a list"):
        len(folds)


def test_fits_are_counted_where_they_happen() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    with recorded(), fits_counted(DecisionTreeClassifier) as fits:
        Parallel(n_jobs=2)(delayed(DecisionTreeClassifier().fit)(X, y) for _ in range(3))
    assert fits == {"inside": 3, "outside": 0}
    assert fitted_beforehand(fits, n_jobs=2) is None
    with recorded(), fits_counted(DecisionTreeClassifier) as fits:
        Parallel(n_jobs=2)(delayed(DecisionTreeClassifier().fit(X, y).score)(X, y) for _ in range(3))
    assert fits == {"inside": 0, "outside": 3}
    fault = fitted_beforehand(fits, n_jobs=2)
    assert fault
    assert fault.misconception == "called-at-once"
    assert fitted_beforehand(fits, n_jobs=1) is None


def test_a_sentence_ends_with_one_full_stop() -> None:
    """ "this is 7 of type generator.." was read aloud."""
    assert forest._contents([Other("float"), Other("float")]) == "2 of type float."
    assert forest._contents([Other("list"), Other("list")]).endswith("to one.")


@pytest.mark.parametrize(("function", "raised", "advice"), [
    ("parallel_grid_search", "TypeError: BaseEstimator.set_params() takes 1 positional argument", "**parameters"),
    ("parallel_forest", "_pickle.PicklingError: x\n  pool.starmap(grow, tasks)\nPicklingError: x", "to joblib"),
    ("parallel_kmeans_step", "TypeError: unsupported operand type(s) for +: 'int' and 'tuple'", "sum(s for s, _ in"),
    ("parallel_kmeans_step", "ValueError: broadcast together with shapes (6,3) (6,)", "counts[:, None]"),
    ("parallel_kmeans_step", "ValueError: broadcast together with shapes (6,3) (5,1)", "minlength=len(centres)"),
    ("classify_parallelism", "ZeroDivisionError: float division by zero", "Compare by a difference"),
])  # fmt: skip
def test_what_python_says_is_followed_by_what_to_do(function: str, raised: str, advice: str) -> None:
    exercise = find(f"scikit_learn.{function}")
    (case,) = exercise.cases(1, 0)
    exception, _, text = raised.partition(": ")
    told = f"your function raised {raised}"
    failed = Seen(case, failure=Failure("RankRaised", told, exception=exception, text=text))
    finding = exercise.judge(Observation(exercise.id, "processes", seen=(failed,)))[0]
    assert finding.misconception == "crashed:RankRaised"
    assert advice in finding.message
    assert finding.message.count("\n") <= raised.count("\n") + 1, "one hint"


def test_threads_are_counted_in_whole_numbers() -> None:
    """fit(4 / 3) was taken for fit(1), and got all points."""
    with pytest.raises(UsageError, match=r"fit\(1\.5\): a number of threads is a whole number.*\n.*//"):
        Fit(Room(1, 2), 0)(1.5)  # type: ignore[arg-type]
    assert Fit(Room(1, 2), 7)(np.int64(2)) == 7


def test_threads_that_tear_an_estimator_apart_are_told_so() -> None:
    """One time in four the threads did not get as far as an IndexError: the process was killed by SIGSEGV, and the
    feedback said that, and no more."""

    def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):  # type: ignore[no-untyped-def]
        os.kill(os.getpid(), signal.SIGSEGV)

    score = checks.check("scikit_learn.parallel_grid_search", parallel_grid_search)
    (finding,) = score.findings
    assert (score.points, finding.misconception) == (0, "touches-estimator")
    assert "SIGSEGV" in finding.message
    assert "clone(estimator)" in finding.message
