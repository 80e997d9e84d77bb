"""What the exercises of unit 01 look at besides tasks: fits, folds, a room of threads, fits with written-down times."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from joblib import Parallel, delayed

from lockstep.classical.parallelism import classify_parallelism
from lockstep.errors import UsageError
from lockstep.exercises.scikit_learn.fits import fits_seen
from lockstep.exercises.scikit_learn.folds import Folds
from lockstep.exercises.scikit_learn.joblib_tasks import recorded
from lockstep.exercises.scikit_learn.room import Fit, Room
from lockstep.exercises.scikit_learn.scripted import Script, performed, played

X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])


def test_fits_are_counted_where_they_happen() -> None:
    from sklearn.tree import DecisionTreeClassifier

    with recorded(), fits_seen(DecisionTreeClassifier, X, y) as fits:
        Parallel(n_jobs=2)(delayed(DecisionTreeClassifier().fit)(X, y) for _ in range(3))
    assert fits.counts == [3, 3, 3]
    with recorded(), fits_seen(DecisionTreeClassifier, X, y) as fits:
        Parallel(n_jobs=2)(delayed(DecisionTreeClassifier().fit(X, y).score)(X, y) for _ in range(3))
    assert fits.counts == [0, 3, 0]


def test_a_fit_is_known_by_its_rows_labels_parameters_and_what_it_predicts() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rows = [3, 1, 1]
    with fits_seen(DecisionTreeClassifier, X, y) as fits:
        tree = DecisionTreeClassifier(max_depth=3).fit(X[rows], y[rows])
        tree.score(X[[0, 2]], y[[0, 2]])
        DecisionTreeClassifier().fit(X[rows], y[:3])
        np.random.default_rng([4, 1])
    first, second = fits.every
    assert fits.of(tree) is first
    assert (first.rows, first.labels, first.told["max_depth"], first.predicted) == (rows, True, "3", [0, 2])
    assert (second.rows, second.labels, second.predicted) == (rows, False, [])
    assert fits.seeds == ["[4, 1]"]


@pytest.mark.parametrize(("prefer", "contested"), [("threads", 6), ("processes", 0)])
def test_an_estimator_that_threads_share_is_noticed_every_time(prefer: str, contested: int) -> None:
    """The scores were wrong by chance: one run of five was told why. Two fits at once could end the process."""
    from sklearn.tree import DecisionTreeClassifier

    for _ in range(5):
        shared = DecisionTreeClassifier()
        with recorded(), fits_seen(DecisionTreeClassifier, X, y) as fits:
            Parallel(n_jobs=3, prefer=prefer)(delayed(shared.fit)(X, y) for _ in range(6))
        assert fits.contested == contested


def test_folds_are_unequal_come_once_and_are_others_the_next_time() -> None:
    cv = Folds((2, 3, 5), seed=0)
    folds = cv.split(np.zeros((10, 2)))
    first = list(folds)
    assert [len(test) for _, test in first] == [2, 3, 5]
    assert all(sorted([*train, *test]) == list(range(10)) for train, test in first)
    assert list(folds) == []
    again = list(cv.split(np.zeros((10, 2))))
    assert cv.calls == 2
    assert any(not np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert all(map(np.array_equal, first[0], next(iter(Folds((2, 3, 5), seed=0).split(None)))))


@pytest.mark.parametrize(("fits", "cores", "outer", "inner", "most"), [
    (4, 4, 4, 4, 16),  # everyone believes that the machine is his own
    (4, 4, 4, 1, 4),
    (2, 8, 2, 4, 8),
    (9, 4, 4, 1, 4),
    (9, 4, 9, 1, 9),
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
    assert room.most_fits == outer or most > cores


def test_a_fit_cannot_go_to_another_process() -> None:
    from lockstep.exercises.scikit_learn.joblib_tasks import Refused

    with recorded() as handed, pytest.raises(Refused):
        Parallel(n_jobs=2)(delayed(Fit(Room(2, 2), i))(1) for i in range(2))
    assert handed.refused[0] == "stuck"


def test_threads_are_counted_in_whole_numbers() -> None:
    """fit(4 / 3) was taken for fit(1), and got all points."""
    room = Room(1, 2)
    with pytest.raises(TypeError):
        Fit(room, 0)(1.5)  # type: ignore[arg-type]
    assert room.misused == "1.5"
    room = Room(1, 2)
    with pytest.raises(ValueError, match="1 thread or more"):
        Fit(room, 0)(0)
    assert room.misused == "0"
    assert Fit(Room(1, 2), 7)(np.int64(2)) == 7


SCRIPTS = (
    (Script(), "serial"),
    (Script("openmp"), "openmp"),
    (Script("blas", share=0.3), "blas"),
    (Script("n_jobs", share=0.9), "threads"),
    (Script("n_jobs", "children", 0.9), "processes"),
    (Script(vain=0.6), "serial"),
    (Script("openmp", share=0.15), "serial"),
    (Script("openmp", share=0.25, work=2.0), "openmp"),
    (Script("n_jobs", "children", share=0.9, vain=0.8), "processes"),
)


@pytest.mark.parametrize(("script", "kind"), SCRIPTS)
def test_a_script_is_what_the_rule_of_the_lab_says(script: Script, kind: str) -> None:
    assert script.kind == kind
    assert classify_parallelism(played(script)) == kind


def test_a_script_is_played_alike_every_time() -> None:
    """Measured fits let wrong answers pass by chance, and right ones fail on a busy machine."""
    measure = played(Script("openmp", vain=0.1))
    assert measure(openmp=2) == measure(openmp=2)
    assert measure(n_jobs=2).elsewhere == measure().elsewhere


@pytest.mark.parametrize("knob", [{"n_jobs": -1}, {"openmp": 0}, {"blas": 1.5}])
def test_a_knob_is_a_number_of_workers(knob: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="a knob is a number of threads or processes"):
        played(Script())(**knob)


@pytest.fixture
def busy() -> Iterator[None]:
    """Two processes that use every core that they get. They are no children: a fit's own children count as its own."""
    loop = f"{shlex.quote(sys.executable)} -c 'while True: pass' >/dev/null 2>&1 & echo $!"
    started = [subprocess.run(["sh", "-c", loop], stdout=subprocess.PIPE, check=True, timeout=20) for _ in range(2)]
    yield
    for shell in started:
        os.kill(int(shell.stdout), signal.SIGKILL)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(("script", "kind"), [s for s in SCRIPTS if s[0].share in (0.5, 0.9)])
def test_what_is_performed_is_told_rightly_on_a_busy_machine(script: Script, kind: str) -> None:
    assert classify_parallelism(performed(replace(script, work=0.03, vain=script.vain / 20))) == kind
