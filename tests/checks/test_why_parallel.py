"""The exercises of unit 00 are pure: whatever the seed, every known answer is told what its file states, and nothing
breaks the judge.

Known answers are run here in this process, with several seeds; ``test_answers`` runs them as a learner's are.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from lockstep.checks import check_file, exercises, find, recognise
from lockstep.checks.argument_changes import comparing, recorded
from lockstep.checks.case import Case
from lockstep.checks.closer_look import Closer
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding
from lockstep.checks.known import Known, known_answers
from lockstep.checks.load import FromFile, load
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.observe import observe
from lockstep.checks.rank_program import returned
from lockstep.checks.transforms import changed_numbers
from lockstep.checks.unchanged_arguments import changed
from lockstep.checks.verdict import _judged
from lockstep.cost.training import BYTES
from lockstep.grading.course import root

EXERCISES = [e for e in exercises() if e.topic == "why_parallel"]
SEEDS = range(6)
NOT_HERE = ("library-call", "crashed:Stuck")  # what only a real check can see
GENERAL = ("crashed:", "wrong-")

Function = Callable[..., Any]


def exercise(function: str) -> Exercise:
    return next(e for e in EXERCISES if e.function == function)


def observed(exercise: Exercise, fn: Function, cases: Sequence[Case]) -> Observation:
    """As ``observe`` does it, in this process. The calls of a case are copied together, as on their way to a rank; what
    each does to its arguments is compared."""
    own = fn.function() if isinstance(fn, FromFile) else fn
    seen = []
    for case in cases:
        try:
            calls = pickle.loads(pickle.dumps(exercise.inputs(case, 0)))
            watch = comparing(exercise.run.watch or returned)
            answers, found = zip(*(recorded(watch(own, call)) for call in calls), strict=True)
            seen.append(Seen(case, returned=(list(answers),), arguments=([],), changes=found))
        except Exception as error:
            failure = Failure("RankRaised", f"{exercise.function}(...) raised {type(error).__name__}: {error}")
            seen.append(Seen(case, failure=failure))
    return Observation(exercise.id, "virtual", seen=tuple(seen))


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognise, "observe", lambda exercise, fn, world, cases: observed(exercise, fn, cases))


def judged(exercise: Exercise, fn: Function, seed: int, known: Sequence[Known] | None = None) -> list[Finding]:
    observation = observed(exercise, fn, exercise.cases(1, seed))
    for seen in observation:
        if exercise.feedback.picture and not seen.failure:
            drawn = exercise.feedback.picture(seen)
            assert drawn == "" or drawn.startswith("<svg")
    return _judged(exercise, observation, Closer(exercise, fn, known_answers(exercise) if known is None else known))


def wrong_answers() -> list[object]:
    found = [(e, k) for e in EXERCISES for k in known_answers(e) if k.misconception not in NOT_HERE]
    return [pytest.param(e, k, id=f"{e.function}/{k.name}") for e, k in found]


def right_answers() -> list[object]:
    found = [(e, path) for e in EXERCISES for path in sorted(e.right.glob("*.py"))]
    return [pytest.param(e, path, id=f"{e.function}/{path.stem}") for e, path in found]


@pytest.mark.sampled(70)
@pytest.mark.parametrize(("exercise", "known"), wrong_answers())
def test_a_wrong_answer_is_told_what_its_file_states_whatever_the_seed(exercise: Exercise, known: Known) -> None:
    for seed in SEEDS:
        found = judged(exercise, known.load(exercise.function), seed)
        assert found, seed
        assert found[0].misconception == known.misconception, (seed, found)
        assert 0 < sum(f.points for f in found) <= exercise.points
        others = {f.misconception for f in found[1:] if not f.misconception.startswith(GENERAL)}
        assert others <= set(known.also), (seed, found)


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("exercise", "known"), wrong_answers())
def test_a_wrong_answer_that_nobody_knows_is_told_by_no_other_ones_sentence(exercise: Exercise, known: Known) -> None:
    """One that states the same misconception may speak for it."""
    others = [k for k in known_answers(exercise) if k.misconception != known.misconception]
    found = judged(exercise, known.load(exercise.function), 0, others)
    assert found, "it passes"
    assert not [k for k in others if k.tell and k.tell in found[0].message], found


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("exercise", "path"), right_answers())
def test_a_right_answer_passes_whatever_the_seed(exercise: Exercise, path: Path) -> None:
    for seed in SEEDS:
        assert judged(exercise, load(path, exercise.function), seed) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_the_reference_passes_whatever_the_seed_and_the_kind_of_number(exercise: Exercise) -> None:
    fn = exercise.reference_function()
    for seed in range(40):
        assert judged(exercise, fn, seed, ()) == []
    kinds = (numpy.float64, lambda x: torch.tensor(x, dtype=torch.float64))
    for kind in (numpy.int64, torch.tensor) if exercise.function == "workers_needed" else kinds:
        assert judged(exercise, lambda *call, kind=kind: None if fn(*call) is None else kind(fn(*call)), 0) == []


ODD = [None, "1.5", True, [1.0], {}, 1j, math.nan, math.inf, -math.inf, -1, 0, 10**400, -(10**400), torch.ones(3)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
@pytest.mark.parametrize("odd", ODD, ids=lambda x: f"{x!r:.12}")
def test_nothing_that_is_returned_breaks_a_judge(exercise: Exercise, odd: object) -> None:
    found = judged(exercise, lambda *call: odd, 0)
    assert found
    assert 0 < found[0].points <= exercise.points
    assert all(f.message and len(f.message) < 700 for f in found)


def test_every_program_of_the_fit_has_a_p_of_its_own() -> None:
    """A learner returned 0.84, which the feedback had told, and got all points."""
    fit = exercise("fit_parallel_fraction")
    for seed in SEEDS:
        for case in fit.cases(1, seed):
            fractions = [round(p, 4) for p in fit.values.wanted(case)]
            assert len(set(fractions)) == len(fractions) > 2
            assert all(0.5 < p < 0.99 for p in fractions)


@pytest.mark.parametrize(
    ("value", "right", "told"),
    [(1.85, 1.8503, ("1.85", "1.8503")), (140.0, 139.6, ("140", "139.6")), (1.96e30, 139.6, ("1.96e+30", "139.6"))],
)
def test_a_wrong_number_is_told_with_the_digits_that_differ(value: float, right: float, told: tuple[str, str]) -> None:
    """The text "gustafson(0.85, 2) gives 1.85; it is 1.85" helped nobody."""
    assert apart(value, right) == told


CHANGES = (
    ([2.0, 2.0], [1.0, 3.0], "constant"),
    ([2.0, 2.0], [4.0, 4.0], ""),  # one number, of which nothing can be said
    ([0.0, 0.0], [1.0, 1.0], ""),  # "what is left of the whole" was told to a learner who had asked for no workers
    ([0.1, 0.3], [0.9, 0.7], "complement"),
    ([1.0, 4.0], [1.25, 3.75], "rounded"),
    ([8e9 + 1, 16e9 + 1], [8e9, 16e9], ""),  # almost right, and whole as it should be
)


@pytest.mark.parametrize(("answers", "right", "told"), CHANGES)
def test_a_simple_change_is_told_where_it_says_something(answers: list[float], right: list[float], told: str) -> None:
    change = changed_numbers(answers, right)
    assert (change[0] if change else "") == told


def failed(function: str, failure: Failure, at: int = 0) -> str:
    case = exercise(function).cases(1, 0)[at]
    seen = Observation(exercise(function).id, "virtual", seen=(Seen(case, failure=failure),))
    return _judged(exercise(function), seen, None)[0].message


def test_a_search_that_took_too_long_is_asked_when_no_number_is_enough() -> None:
    """A learner who had searched ten million workers was told of a loop without an end."""
    for kind in ("Stuck", "TimeLimit"):
        told = failed("workers_needed", Failure(kind, "your function did not end within 10 seconds."))
        assert "When is no number of workers enough?" in told


CRASHES = (
    ("training_memory", "KeyError: 'float64'", "Your table has no such dtype."),
    ("training_memory", "KeyError: 'weights'", "go through recipe.values()"),
    ("training_memory", "RuntimeError: dictionary changed size during iteration", "Leave the dictionary as it is"),
    ("training_memory", "TypeError: data type 'bfloat16' not understood", "a dictionary of your own"),
    ("fit_parallel_fraction", "TypeError: unsupported operand type(s) for /: 'int' and 'list'", "np.array(workers"),
    ("fit_parallel_fraction", "a, b = np.linalg.lstsq(A, t)\nValueError: too many values to unpack", "four things"),
    ("amdahl", "TypeError: unsupported operand type(s) for ^: 'float' and 'int'", "a power is **"),
    ("workers_needed", "IndexError: index 0 is out of bounds", "or your search ends too early"),
    ("workers_needed", "ZeroDivisionError: float division by zero", "Return it before you divide."),
    ("workers_needed", "RecursionError: maximum recursion depth exceeded", "use a loop"),
)


@pytest.mark.parametrize(("function", "raised", "advice"), CRASHES)
def test_what_python_says_is_followed_by_what_to_do(function: str, raised: str, advice: str) -> None:
    """ "KeyError: 'weights'", read a beginner, and did not know what to do next."""
    exception, _, text = raised.rpartition("\n")[2].partition(": ")
    failure = Failure("RankRaised", f"{function}(...) raised {raised}", exception=exception, text=text, told=raised)
    assert advice in failed(function, failure)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_a_wrong_number_that_nobody_knows_is_told_with_the_numbers_on_the_way(exercise: Exercise) -> None:
    """ "8 of 8 answers are wrong" was all that a learner read. What is known is told without: it gives away much."""
    right = exercise.reference_function()
    found = judged(exercise, lambda *call: None if right(*call) is None else right(*call) ** 2 + 3, 0)
    assert "On the way: " in found[0].message
    told = judged(exercise, next(k for k in known_answers(exercise) if k.tellable).load(exercise.function), 0)
    assert "On the way: " not in told[0].message


@pytest.mark.parametrize(
    ("answer", "keeps"), [("amdahl/wrong/kept_by_two_digits", True), ("amdahl/wrong/capped", False)]
)
def test_what_is_kept_from_call_to_call_is_told_if_the_call_alone_is_right(answer: str, keeps: bool) -> None:
    exercise = find("why_parallel.amdahl")
    score = check_file(exercise.id, exercise.wrong.parent.parent / f"{answer}.py", keep=False)
    assert ("keeps something from earlier calls" in score.findings[0].message) == keeps


def test_the_ends_alone_name_no_formula() -> None:
    """ "** is a power", was told to a learner who had written 1: with p = 1 that is 1**8."""
    found = judged(exercise("gustafson"), lambda p, s: 1.0, 0)
    assert [f.misconception for f in found] == ["constant"]


def test_a_mistake_is_known_though_its_author_forgot_the_ends_as_well() -> None:
    """The known answer asks for p = 1 first; a learner's divided by zero there, and was not told of the limit."""
    found = judged(exercise("amdahl"), lambda p, s: 1 / (1 - p), 0)
    assert [f.misconception for f in found] == ["limit-only"]


@pytest.mark.slow
@pytest.mark.parametrize("most", [3_000, 10_000, 1_000_000])
def test_a_search_that_gives_up_is_wrong(most: int) -> None:
    """Searches of 3,000 and of 10,000 workers got all points, since no deadline of the check took as many."""
    needed = exercise("workers_needed").reference_function()

    def given_up(*call: float) -> int | None:
        right = needed(*call)
        return right if right is None or right <= most else None

    for seed in SEEDS:
        found = judged(exercise("workers_needed"), given_up, seed)
        assert found[0].misconception == "wrong-values"
        assert "gives None: that no number of workers is enough; it is" in found[0].message


def test_one_worker_more_than_a_million_is_one_too_many() -> None:
    """Answers are compared exactly: 1,500,001 is not 1,500,000, though nearly."""
    needed = exercise("workers_needed").reference_function()
    found = judged(
        exercise("workers_needed"), lambda *call: (needed(*call) or 0) + (needed(*call) or 0) // 10**6 or None, 0
    )
    assert "1 of 4 answers is wrong" in found[0].message


def test_what_is_given_stays_as_it_is() -> None:
    """Who sorted the caller's times had full points, and who wrote into the recipe had, too, where no other call met
    it."""
    fit, memory = exercise("fit_parallel_fraction"), exercise("training_memory")

    def sorts(workers: list[int], times: list[float]) -> float:
        right = fit.reference_function()(workers, times)
        times.sort()
        return float(right)

    def adds(params: int, recipe: dict[str, str]) -> int:
        right = memory.reference_function()(params, recipe)
        recipe["activations"] = "float32"
        return int(right)

    for asked, fn, name in ((fit, sorts, "times"), (memory, adds, "recipe")):
        (case, *_) = asked.cases(1, 0)
        fault = changed(asked, observe(asked, fn, guarded=False, cases=[case]).seen[0])
        assert fault is not None, name
        assert name in fault.message


def test_a_kind_that_is_forgotten_is_named() -> None:
    """The lab's last hint had promised it, and who counted the four kinds of the example was told two numbers."""

    def of_the_example(params: int, recipe: dict[str, str]) -> int:
        kinds = ("weights", "gradients", "momentum", "variance")
        return exercise("training_memory").reference_function()(params, {k: recipe[k] for k in kinds if k in recipe})

    (found,) = judged(exercise("training_memory"), of_the_example, 0)[:1]
    assert "leave out: error feedback, master weights, moving average." in found.message


def test_the_largest_kind_of_a_recipe_is_no_list_of_forgotten_kinds() -> None:
    """ "Your answers leave out: error feedback, gradients, momentum, variance, weights", was told to a learner who had
    written max for sum: in each recipe the rest of the kinds happened to be the largest one."""
    largest = exercise("training_memory")
    found = judged(largest, lambda n, recipe: n * max(BYTES[dtype] for dtype in recipe.values()), 0)
    assert "leave out" not in found[0].message
    assert "On the way: each parameter takes " in found[0].message


@pytest.mark.slow
def test_a_rounded_p_is_told_as_one() -> None:
    """Of 0.845 nobody knows whether 0.84 or 0.85 is the rounded one."""
    fit = exercise("fit_parallel_fraction")
    for seed, digits in itertools.product(SEEDS, (2, 3)):
        found = judged(fit, lambda *runs, digits=digits: round(fit.reference_function()(*runs), digits), seed)
        assert [f.misconception for f in found] == ["rounded"]


def test_times_that_are_sorted_by_themselves_are_wrong_in_every_noisy_case() -> None:
    """They were wrong in one program of six, by 0.0001: the noise changed no order."""
    fit = exercise("fit_parallel_fraction")
    torn = next(k for k in known_answers(fit) if k.name == "torn_pairs").load(fit.function).function()
    for seed in range(30):
        for case in fit.cases(1, seed)[2:]:
            pairs = zip(fit.inputs(case, 0), fit.values.wanted(case), strict=True)
            assert max(abs(torn(*runs) - p) for runs, p in pairs) > 3e-4


@pytest.mark.slow
def test_no_run_may_be_left_out() -> None:
    """The fit tells the means and weights of other answers apart from least squares, whatever the seed."""
    fit = exercise("fit_parallel_fraction")
    cheats = ("means_first", "median_of_each", "relative_errors", "weights_by_workers", "without_outliers")
    known = [k for k in known_answers(fit) if k.name in cheats]
    assert len(known) == len(cheats)
    for seed in range(30):
        for answer in known:
            assert judged(fit, answer.load(fit.function), seed, ()), (answer.name, seed)


def test_the_picture_is_of_the_p_that_was_found() -> None:
    fit = exercise("fit_parallel_fraction")
    seen = observed(fit, lambda workers, times: 0.5, fit.cases(1, 0)).seen[0]
    assert "p = 0.5 (your p)" in fit.feedback.picture(seen)
    assert fit.feedback.picture(replace(seen, returned=())) == ""


def test_five_of_six_are_core_and_points_rank_as_minutes() -> None:
    assert [e.function for e in EXERCISES if not e.core] == ["gustafson"]
    by_minutes = sorted(EXERCISES, key=lambda e: e.minutes)
    assert [e.points for e in by_minutes] == sorted(e.points for e in EXERCISES)


def test_the_labs_solution_counts_a_deadline_as_the_library_does() -> None:
    """The published solution said 20 workers for 95 % of 100 hours within 10; the library and Amdahl's law say 19."""
    solved = load(root() / "solutions/00_why_parallel/lab.ipynb", "workers_needed").function()
    needed = exercise("workers_needed").reference_function()
    for percent in range(1, 100):
        for s in (2, 19, 1000):
            call = (100.0, percent / 100, 100 * ((100 - percent) * s + percent) / (100 * s))
            assert solved(*call) == needed(*call) == s, call
