"""The judges of unit 00 are pure: whatever the seed, every known answer is judged as stated, and nothing breaks them.

The mutants and alternatives are run here in this process, with many seeds; ``test_mutants`` runs them as a learner's
are.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from lockstep.checks import play
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.why_parallel import EXERCISES
from lockstep.checks.why_parallel.formulas import apart

TESTS = Path(__file__).parents[1]
SEEDS = range(40)
BY_CALLING = ("library-call",)  # what only a real check can see


def files(kind: str) -> list[object]:
    found = [(e, p) for e in EXERCISES for p in sorted((TESTS / kind / e.topic / e.function).glob("*.py"))]
    return [pytest.param(e, p, id=f"{e.function}/{p.stem}") for e, p in found]


def loaded(exercise: Exercise, path: Path) -> tuple[Callable[..., Any], str]:
    """The function of a file, and the misconception that it states."""
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), path, "exec"), names)
    return names[exercise.function], names.get("MISCONCEPTION", "")


def raising(raised: str, call: str = "your function") -> Failure:
    """The failure of a call: "KeyError: 'weights'", after the learner's line if there is one."""
    line, _, last = raised.rpartition("\n")
    exception, _, text = last.partition(": ")
    return Failure("RankRaised", f"{call} raised {raised}", exception=exception, text=text, told=f"  {line}\n{last}")


def judged(exercise: Exercise, fn: Callable[..., Any], seed: int) -> list[Finding]:
    seen, watch = [], exercise.watch or play.returned
    for case in exercise.cases(1, seed):
        try:
            returned = [watch(fn, call) for call in copy.deepcopy(exercise.inputs(case, 0))]
            seen.append(Seen(case, returned=(returned,)))
        except ArithmeticError as error:
            seen.append(Seen(case, failure=raising(f"{type(error).__name__}: {error}")))
    for one in seen:
        if exercise.picture and not one.failure:
            drawn = exercise.picture(one)
            assert drawn == "" or drawn.startswith("<svg")
    return exercise.judge(Observation(exercise.id, "virtual", seen=tuple(seen)))


@pytest.mark.parametrize(("exercise", "path"), files("mutants"))
def test_a_mutant_is_known_by_its_misconception_whatever_the_seed(exercise: Exercise, path: Path) -> None:
    fn, stated = loaded(exercise, path)
    if stated in BY_CALLING:
        return
    for seed in SEEDS:
        found = judged(exercise, fn, seed)
        assert stated in [f.misconception for f in found], (seed, found)
        assert sum(f.points for f in found) > 0


@pytest.mark.parametrize(("exercise", "path"), files("alternatives"))
def test_an_alternative_passes_whatever_the_seed(exercise: Exercise, path: Path) -> None:
    fn, _ = loaded(exercise, path)
    for seed in SEEDS:
        assert judged(exercise, fn, seed) == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
def test_the_reference_passes_whatever_the_seed_and_the_kind_of_number(exercise: Exercise) -> None:
    fn = exercise.reference_function()
    for seed in SEEDS:
        assert judged(exercise, fn, seed) == []
    for kind in (numpy.float64, lambda x: torch.tensor(x, dtype=torch.float64)):
        assert judged(exercise, lambda *call, kind=kind: None if fn(*call) is None else kind(fn(*call)), 0) == []


ODD = [None, "1.5", True, [1.0], {}, 1j, math.nan, math.inf, -math.inf, -1, 0, 10**400, -(10**400), torch.ones(3)]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.function)
@pytest.mark.parametrize("odd", ODD, ids=lambda x: f"{x!r:.12}")
def test_nothing_that_is_returned_breaks_a_judge(exercise: Exercise, odd: object) -> None:
    found = judged(exercise, lambda *call: odd, 0)
    assert found
    assert 0 < found[0].points <= exercise.points
    assert all(f.message and len(f.message) < 600 for f in found)


def test_every_misconception_of_a_formula_has_a_message_of_its_own() -> None:
    """Two wrong formulas that give the same answers would be told by the first one's message alone."""
    from lockstep.checks.why_parallel.laws import AMDAHL_WRONG, GUSTAFSON_WRONG, WORKERS

    for table in (AMDAHL_WRONG, GUSTAFSON_WRONG):
        answers = [tuple(round(w.formula(0.88, s), 9) for s in WORKERS) for w in table]
        assert len(set(answers)) == len(answers)


def test_no_reference_is_in_a_module_that_its_judge_needs() -> None:
    """While a learner is watched, the reference's module refuses to be called; a judge has formulas of its own."""
    for path in (TESTS.parent / "pkg/lockstep/checks/why_parallel").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("lockstep.cost"), path


def test_every_program_of_the_fit_has_a_p_of_its_own() -> None:
    """A learner returned 0.84, which the feedback had told, and got all points."""
    fit = next(e for e in EXERCISES if e.function == "fit_parallel_fraction")
    for seed in SEEDS:
        fractions = [case.settings["p"] for case in fit.cases(1, seed)]
        assert len(set(fractions)) == len(fractions) > 2


@pytest.mark.parametrize(
    ("value", "right", "told"),
    [(1.85, 1.8503, ("1.85", "1.8503")), (140.0, 139.6, ("140", "139.6")), (1.96e30, 139.6, ("1.96e+30", "139.6"))],
)
def test_a_wrong_number_is_told_with_the_digits_that_differ(value: float, right: float, told: tuple[str, str]) -> None:
    """The text "gustafson(0.85, 2) gives 1.85; it is 1.85" helped nobody."""
    assert apart(value, right) == told


def test_a_search_that_took_too_long_is_asked_when_no_number_is_enough() -> None:
    """A learner who had searched ten million workers was told of a loop without an end."""
    choose = next(e for e in EXERCISES if e.function == "workers_needed")
    hung = Seen(choose.cases(1, 0)[1], failure=Failure("Stuck", "your function did not end within 10 seconds."))
    found = choose.judge(Observation(choose.id, "virtual", seen=(hung,)))
    assert found[0].misconception == "crashed:Stuck"
    assert "When is no number of workers enough?" in found[0].message


CRASHES = (
    ("training_memory", "KeyError: 'float64'", "Your table has no such dtype."),
    ("training_memory", "KeyError: 'weights'", "go through recipe.values()"),
    ("training_memory", "TypeError: data type 'bfloat16' not understood", "a dictionary of your own"),
    ("fit_parallel_fraction", "TypeError: unsupported operand type(s) for /: 'int' and 'list'", "np.array(workers"),
    ("fit_parallel_fraction", "a, b = np.linalg.lstsq(A, t)\nValueError: too many values to unpack", "four things"),
    ("amdahl", "TypeError: unsupported operand type(s) for ^: 'float' and 'int'", "a power is **"),
    ("workers_needed", "IndexError: index 0 is out of bounds", "Here no number of workers is enough: return None."),
    ("workers_needed", "RecursionError: maximum recursion depth exceeded", "use a loop"),
)


@pytest.mark.parametrize(("function", "raised", "advice"), CRASHES)
def test_what_python_says_is_followed_by_what_to_do(function: str, raised: str, advice: str) -> None:
    """ "KeyError: 'weights'", read a beginner, and did not know what to do next."""
    exercise = next(e for e in EXERCISES if e.function == function)
    case = next(c for c in exercise.cases(1, 0) if c.settings.get("kind", "none") in ("none", "exact"))
    failed = Seen(case, failure=raising(raised, f"{function}(...)"))
    finding = exercise.judge(Observation(exercise.id, "virtual", seen=(failed,)))[0]
    assert finding.misconception == "crashed:RankRaised"
    assert advice in finding.message


def test_a_wrong_number_that_nobody_knows_is_told_with_the_numbers_on_the_way() -> None:
    """ "8 of 8 answers are wrong" was all that a learner read."""
    steps = {
        "amdahl": "On the way: if one worker takes 1 in all, the serial part takes",
        "gustafson": "On the way: for 0.",
        "training_days": "On the way: it takes",
        "training_memory": "On the way: each parameter takes",
    }
    for exercise in EXERCISES:
        if exercise.function in steps:
            right = exercise.reference_function()
            found = judged(exercise, lambda *call, right=right: 1.37 * right(*call), 0)
            assert steps[exercise.function] in found[0].message


def test_the_ends_alone_name_no_formula() -> None:
    """ "** is a power", was told to a learner who had written 1: with p = 1 that is 1**8."""
    gustafson = next(e for e in EXERCISES if e.function == "gustafson")
    found = judged(gustafson, lambda p, s: 1.0, 0)
    assert [f.misconception for f in found] == ["wrong-values"]
