"""The checks of unit 01 beyond their known answers: what is said is said each time, and says what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

from lockstep import checks
from lockstep.checks import closer_look
from lockstep.checks.exercise import find
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.observe import observe
from lockstep.checks.unchanged_arguments import not_allowed
from lockstep.exercises.scikit_learn.workers import REFUSED, misused, wasted


def failed(function: str, failure: Failure) -> str:
    """What the run that ended so is told."""
    exercise = find(f"scikit_learn.{function}")
    case = exercise.cases(1, 0)[0]
    observation = Observation(exercise.id, "processes", seen=(Seen(case, failure=failure),))
    return checks.score_of(exercise, observation).findings[0].message


@pytest.mark.parametrize(("function", "exception", "text", "advice"), [
    ("parallel_grid_search", "TypeError", "BaseEstimator.set_params() takes 1 positional argument", "**parameters"),
    ("parallel_grid_search", "TypeError", "object of type 'generator' has no len()", "list(cv.split(X, y))"),
    ("parallel_forest", "PicklingError", "cannot pickle 'Pool' object", "to joblib"),
    ("parallel_kmeans_step", "TypeError", "unsupported operand type(s) for +: 'int' and 'tuple'", "sum(s for s, _ in"),
    ("parallel_kmeans_step", "ValueError", "broadcast together with shapes (6,3) (6,)", "counts[:, None]"),
    ("parallel_kmeans_step", "ValueError", "broadcast together with shapes (6,3) (5,1)", "minlength=len(centres)"),
    ("classify_parallelism", "ZeroDivisionError", "float division by zero", "Compare by a difference"),
])  # fmt: skip
def test_what_python_says_is_followed_by_what_to_do(function: str, exception: str, text: str, advice: str) -> None:
    said = f"your function raised {exception}: {text}"
    told = failed(function, Failure("RankRaised", said, exception=exception, text=text, origin="learner"))
    assert advice in told
    assert told.count("\n") <= 1, "one hint"


def test_a_lock_that_is_never_released_is_told_as_one() -> None:
    """The caller stood in Parallel, in wait for its tasks, and was only asked whether its loops end."""
    where = "your function did not end within 15 seconds. It stood at lab.py, line 8: Parallel(n_jobs=n_jobs)(tasks)"
    for kind in ("TimeLimit", "Stuck"):
        told = failed("parallel_forest", Failure(kind, where))
        assert "a lock that another task has taken and not released" in told


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_task_has_a_sentence(kind: str) -> None:
    fault = misused({"refused": [kind, "grow"], "calls": []})
    assert fault
    assert "{" not in fault.message
    assert fault.message.endswith((".", ".)"))


def test_who_calls_parallel_with_one_worker_is_told_so() -> None:
    call = {"n_jobs": 1, "tasks": 0}
    answer = {"n_jobs": 3, "calls": [call], "fits": [0, 0, 0], "silent": False, "unused": False, "unmoved": False}
    fault = wasted(answer, 7, "tree")
    assert fault
    assert fault.misconception == "ignores-n_jobs"
    assert "with 1 worker:" in fault.message


@pytest.mark.slow
def test_threads_that_share_an_estimator_are_told_each_time() -> None:
    """Scores were wrong by chance, or the process was killed: one run of five was told why."""
    path = find("scikit_learn.parallel_grid_search").wrong / "threads_no_clone.py"
    scores = [checks.check_file("scikit_learn.parallel_grid_search", path, keep=False) for _ in range(3)]
    assert [[f.misconception for f in score.findings] for score in scores] == [["touches-estimator"]] * 3
    assert scores[0].text() == scores[2].text()


def test_threads_that_share_an_estimator_are_not_let_loose_a_second_time() -> None:
    """The second call, which asks what becomes of the results, was made where nobody takes turns: the process died."""
    calls = []

    def parallel_grid_search(estimator, grid, X, y, cv, n_jobs):  # type: ignore[no-untyped-def]
        calls.append(n_jobs)
        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(estimator.fit)(X, y) for _ in range(24))
        return {}, [0.0]

    answer = find("scikit_learn.parallel_grid_search").run.watch(parallel_grid_search, (4, 1))  # type: ignore[misc]
    assert answer["contested"] == 24
    assert calls == [4]


def test_what_a_fit_showed_is_told_where_nobody_knows_the_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closer look that found nothing dropped the numbers on the way."""
    monkeypatch.setattr(closer_look, "tellable", lambda _: [])

    def classify_parallelism(measure):  # type: ignore[no-untyped-def]
        return "serial"

    checks.check("scikit_learn.classify_parallelism", classify_parallelism)
    (finding,) = checks.check("scikit_learn.classify_parallelism", classify_parallelism).findings
    assert finding.misconception == "wrong-values"
    assert "On the way: its .elsewhere is 0.00 with every knob at 1" in finding.message


COMPUTED = """
import numpy as np
from joblib import Parallel, delayed


def partial(part, centres):
    chosen = np.eye(len(centres))[((part[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)]
    return chosen.T @ part, chosen.sum(axis=0)


def parallel_kmeans_step(X, centres, n_jobs):
    {before}
    found = Parallel(n_jobs=n_jobs{prefer})(delayed(partial)(part, centres) for part in np.array_split(X, n_jobs))
    {after}
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("before", "prefer", "after", "told"), [
    ("", "", "sums, counts = partial(X, centres)", ["not-by-messages"]),
    ("sums, counts = partial(X, centres)", "", "", ["not-by-messages"]),
    ("", ', prefer="threads"', "assert len(found) == n_jobs; sums, counts = partial(X, centres)", ["not-by-messages"]),
    ("", "", "sums, counts = sum(s for s, _ in found), sum(c for _, c in found)", []),
])  # fmt: skip
def test_what_the_workers_send_back_must_show_in_the_result(
    before: str, prefer: str, after: str, told: list[str], tmp_path: Path
) -> None:
    """Right parts went out and right sums came back, and the caller computed everything itself: all points."""
    (tmp_path / "answer.py").write_text(COMPUTED.format(before=before or "pass", prefer=prefer, after=after or "pass"))
    score = checks.check_file("scikit_learn.parallel_kmeans_step", tmp_path / "answer.py", keep=False)
    assert [f.misconception for f in score.findings] == told, score.text()


def test_who_stumbles_over_results_that_are_all_alike_has_used_them() -> None:
    """Each tree comes with its number, by which it is found: where all are the first one's, others are missed."""

    def grow(X, y, seed, i):  # type: ignore[no-untyped-def]
        random = np.random.default_rng([seed, i])
        rows = random.integers(len(X), size=len(X))
        state = int(random.integers(2**31))
        return i, DecisionTreeClassifier(max_features="sqrt", random_state=state).fit(X[rows], y[rows])

    def parallel_forest(X, y, n_trees, n_jobs, seed):  # type: ignore[no-untyped-def]
        found = dict(Parallel(n_jobs=n_jobs)(delayed(grow)(X, y, seed, i) for i in range(n_trees)))
        return [found[i] for i in range(n_trees)]

    score = checks.check("scikit_learn.parallel_forest", parallel_forest)
    assert score.passed, score.text()


def test_threads_may_write_their_results_where_they_are_seen() -> None:
    def parallel_forest(X, y, n_trees, n_jobs, seed):  # type: ignore[no-untyped-def]
        trees = [None] * n_trees

        def grow(i: int) -> None:
            random = np.random.default_rng([seed, i])
            rows = random.integers(len(X), size=len(X))
            state = int(random.integers(2**31))
            tree = DecisionTreeClassifier(max_features="sqrt", random_state=state)
            trees[i] = tree.fit(X[rows], y[rows])

        Parallel(n_jobs=n_jobs, prefer="threads")(delayed(grow)(i) for i in range(n_trees))
        return trees

    score = checks.check("scikit_learn.parallel_forest", parallel_forest)
    assert score.passed, score.text()


SPOILT = (
    ("parallel_forest", "X, y", "np.multiply(args[0], 0, out=args[0]); args[1][:] = 0"),
    ("parallel_kmeans_step", "X", "args[0][:] = 0"),
    ("parallel_grid_search", "grid, X", "args[1]['max_depth'].pop(); args[2][0] = 0"),
)


@pytest.mark.parametrize(("function", "names", "spoil"), SPOILT)
def test_what_is_given_stays_as_it_is(function: str, names: str, spoil: str) -> None:
    """Who set X to zeros had full points, as long as that came last."""
    exercise = find(f"scikit_learn.{function}")

    def fn(*args):  # type: ignore[no-untyped-def]
        result = exercise.reference_function()(*args)
        exec(spoil, {"np": np, "args": args})
        return result

    def changes_of(fn):  # type: ignore[no-untyped-def]
        return {change for _, change in not_allowed(exercise, observe(exercise, fn, guarded=False).seen[0])}

    parameters = exercise.parameters.split(", ")
    assert {parameters[change.argument] for change in changes_of(fn)} == set(names.split(", "))
    assert changes_of(exercise.reference_function()) == set(), "the check's own lists were changed, for who comes next"


def test_sums_in_single_precision_are_told_apart() -> None:
    """Quarters below 200 have sums that float32 holds: an answer that added up in float32 got all points."""

    def part(rows, centres):  # type: ignore[no-untyped-def]
        nearest = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        chosen = np.eye(len(centres), dtype=np.float32)[nearest]
        return chosen.T @ rows.astype(np.float32), chosen.sum(axis=0)

    def parallel_kmeans_step(X, centres, n_jobs):  # type: ignore[no-untyped-def]
        found = Parallel(n_jobs=n_jobs)(delayed(part)(rows, centres) for rows in np.array_split(X, n_jobs))
        sums, counts = (sum(parts) for parts in zip(*found, strict=True))
        return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)

    score = checks.check("scikit_learn.parallel_kmeans_step", parallel_kmeans_step)
    assert score.findings, score.text()
    assert "wrong" in score.findings[0].message


CLASSIFIED = """
def classify_parallelism(measure):
    before = measure()
    for knob in ("openmp", "blas", "n_jobs"):
        used = measure(**{{knob: 2}})
        if used.elsewhere - before.elsewhere {counts}:
            return knob if knob != "n_jobs" else {workers}
    return "serial"
"""
GROWN = '"processes" if used.children - before.children > used.helpers - before.helpers else "threads"'
SHARES = GROWN.replace("used.helpers", "(used.elsewhere - used.children / (used.main + used.helpers + used.children))")
SHARES = SHARES.replace("used.children - before.children", "used.children / (used.main + used.helpers + used.children)")
SHARES = SHARES.replace("before.helpers", "before.elsewhere")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("counts", "workers", "told"), [
    (">= 0.25", GROWN, []),
    (">= 0.25", SHARES, []),
    ("> 0.25", GROWN, ["more-than-the-limit"]),
    (">= 0.2", GROWN, ["wrong-values"]),
    (">= 0.25", '"processes" if used.children > used.helpers else "threads"', ["spinning-helper"]),
])  # fmt: skip
def test_the_limit_counts_and_what_spins_does_not(counts: str, workers: str, told: list[str], tmp_path: Path) -> None:
    """No fit moved a share near the limit, no thread spun more than children worked: these answers got all points."""
    (tmp_path / "answer.py").write_text(CLASSIFIED.format(counts=counts, workers=workers))
    score = checks.check_file("scikit_learn.classify_parallelism", tmp_path / "answer.py", keep=False)
    assert [f.misconception for f in score.findings] == told, score.text()


def test_the_values_of_a_grid_are_numbers_and_strings() -> None:
    """An estimator among them was fitted itself, by all threads, as the reference does: the text leaves none in it."""
    exercise = find("scikit_learn.parallel_grid_search")
    grids = []

    def parallel_grid_search(*args):  # type: ignore[no-untyped-def]
        grids.append(args[1])
        return exercise.reference_function()(*args)

    exercise.run.watch(parallel_grid_search, (1, 1))  # type: ignore[misc]
    assert {type(value) for grid in grids for values in grid.values() for value in values} <= {int, float, str}
