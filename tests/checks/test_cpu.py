"""The checks of unit 02 beyond their mutants: what is refused, what is reported and not judged, what cannot be read."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lockstep import checks
from lockstep.checks import observe
from lockstep.checks.case import Case
from lockstep.checks.cpu import compiled, dot, matmul, saxpy, sums
from lockstep.checks.cpu.lines import Busy, lines_counted
from lockstep.checks.cpu.trial import trial_of_kernel
from lockstep.checks.feedback import page
from lockstep.checks.guard import LibraryAnswer, references_refuse
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.observe import Ungraded
from lockstep.cpu.traced import Memory
from lockstep.errors import RunError


def answer(tmp_path: Path, exercise: str, text: str) -> checks.Score:
    file = tmp_path / "answer.py"
    file.write_text(text)
    return checks.check_file(exercise, file)


HEAD = "from numba import njit\n\n\n@njit\ndef dot(x, y):\n    return "
BORROWED = {
    "renamed": f"from lockstep.cpu.dot import dot as theirs\n{HEAD}theirs(x, y)\n",
    "itself": "from lockstep.cpu.dot import dot\n",
    "by module": f"import lockstep.cpu.dot\n{HEAD}lockstep.cpu.dot.dot(x, y)\n",
}


@pytest.mark.parametrize("how", BORROWED)
def test_the_librarys_kernel_is_refused_although_numba_inlines_it(tmp_path: Path, how: str) -> None:
    score = answer(tmp_path, "cpu.dot", BORROWED[how])
    assert [f.misconception for f in score.findings] == ["library-call"], score.text()


def test_what_a_helper_or_a_closure_borrows_is_found_too() -> None:
    from lockstep.cpu.dot import dot as library

    def helper(x: Any, y: Any) -> Any:
        return library(x, y)

    def outer(x: Any, y: Any) -> Any:
        return helper(x, y)

    compiled.compiled(outer)  # nothing is refused now
    with references_refuse("lockstep.cpu.dot"), pytest.raises(LibraryAnswer):
        compiled.compiled(outer)


def seen_of(exercise: Any, change: dict[str, Any], seed: int = 7, **code: Any) -> Observation:
    """An observation of the right answer, its last evidence changed."""
    (case,) = exercise.cases(1, seed)
    calls = exercise.inputs(case, 0)
    good = {"readable": True, "allocates": False, "blas": False, "lanes": 8, "bits": 32, "chains": 4, "stores": 0,
            "register": 256, "accumulators": 4.0, "text": "", "loops": 3}  # fmt: skip
    bare = {"compiled": True, "parallel": False, "fastmath": False, "disabled": False, "problem": "",
            "code": {}, "ratio": 0.0, "trial": {"problem": "", "told": ""}}  # fmt: skip
    rows = [{**bare, "value": float((x * y).sum())} for x, y in calls]
    rows[-1] |= {"code": good | code} | change
    return Observation(exercise.id, "processes", seen=(Seen(case, returned=(rows,)),))


def test_how_fast_it_was_is_shown_and_costs_nothing() -> None:
    slow, fast = (checks.score_of(dot.DOT, seen_of(dot.DOT, {"ratio": ratio})) for ratio in (0.1, 9.7))
    assert slow.points == fast.points == dot.POINTS
    assert "9.7 times as fast" in page(fast)


def test_code_that_cannot_be_read_is_ungraded_and_never_a_zero() -> None:
    with pytest.raises(Ungraded, match="neither x86-64 nor aarch64"):
        checks.score_of(dot.DOT, seen_of(dot.DOT, {}, readable=False))


@pytest.mark.parametrize(
    ("code", "points", "misconceptions"),
    [
        ({"lanes": 1}, 3, ["scalar-code"]),
        ({"accumulators": 2.0}, 3, ["few-accumulators"]),
        ({"lanes": 1, "accumulators": 1.0}, 2, ["few-accumulators", "scalar-code"]),
        ({"bits": 64, "lanes": 4}, 3.5, ["float64-arithmetic"]),
        ({"allocates": True}, 2, ["temporary-array"]),
    ],
)
def test_each_flaw_has_its_price(code: dict[str, Any], points: float, misconceptions: list[str]) -> None:
    score = checks.score_of(dot.DOT, seen_of(dot.DOT, {}, **code))
    assert (score.points, [f.misconception for f in score.findings]) == (points, misconceptions)


def test_the_budget_of_misses_lies_between_blocks_and_rows() -> None:
    """Counted: 1,400 by blocks, 5,040 along rows, 43,320 down columns."""
    n, p, m, block = matmul.SHAPES[-1]
    assert 2 * 1400 < matmul.budget(n, p, m, block) < 5040 / 1.5


def test_the_lab_tells_the_budget_that_the_check_has() -> None:
    lab = (Path(__file__).parents[2] / "course" / "02_cpu" / "lab.py").read_text()
    assert f"{matmul.budget(*matmul.SHAPES[-1]):,.0f} misses" in lab
    assert f"{sums.SLACK} for each worker" in lab


def test_inputs_are_drawn_anew_from_each_seed() -> None:
    first, second = (dot.DOT.inputs(Case(1, seed, settings={"told": ""}), 0)[0][0] for seed in (1, 2))
    assert not np.array_equal(first, second)


def test_a_wrong_sum_is_not_taken_for_another_mistake_by_chance() -> None:
    """With products of up to 64, a sum with one element twice was sometimes that of one accumulator of 32."""
    for seed in range(40):
        observation = seen_of(dot.DOT, {}, seed=seed)
        (seen,) = observation
        for (x, y), row in zip(dot.DOT.inputs(seen.case, 0), seen.returned[0], strict=True):
            row["value"] += float(x[35] * y[35] + x[36] * y[36]) if x.size > 36 else 0.0
        (found,) = checks.score_of(dot.DOT, observation).findings
        assert found.misconception == "wrong-values"


def test_where_numba_is_switched_off_nothing_is_graded() -> None:
    """With NUMBA_DISABLE_JIT=1, a learner's @njit does nothing: that is not the learner's fault."""
    off = {"compiled": False, "disabled": True}
    with pytest.raises(Ungraded, match="NUMBA_DISABLE_JIT"):
        checks.score_of(dot.DOT, seen_of(dot.DOT, off))
    score = checks.score_of(dot.DOT, seen_of(dot.DOT, off | {"disabled": False}))
    assert [f.misconception for f in score.findings] == ["not-compiled"]


def test_where_time_ran_out_compiling_is_named_too() -> None:
    """Right answers were told that they do not end: numba had taken the seconds to compile whole-row expressions."""
    (case,) = matmul.BLOCKED_MATMUL.cases(1, 7)
    late = Failure("TimeLimit", "your function did not end within 35 seconds.", limit=35.0)
    observation = Observation(matmul.BLOCKED_MATMUL.id, "processes", seen=(Seen(case, failure=late),))
    (found,) = checks.score_of(matmul.BLOCKED_MATMUL, observation).findings
    assert "your function and its compiling did not end within 35 seconds" in found.message
    assert "compile slowly" in found.message
    there = replace(late, where="answer.py, line 8", source="while True:")
    observation = Observation(matmul.BLOCKED_MATMUL.id, "processes", seen=(Seen(case, failure=there),))
    (found,) = checks.score_of(matmul.BLOCKED_MATMUL, observation).findings
    assert "compil" not in found.message, "it ran in Python, before anything was compiled"


@pytest.mark.parametrize("exercise", [saxpy.SAXPY, dot.DOT, matmul.BLOCKED_MATMUL, sums.PARALLEL_SUM])
def test_a_compiled_exercise_may_take_its_own_time_and_ends_before_the_cell_does(exercise: Any) -> None:
    given = []

    def late(*args: Any, timeout: float, **kwargs: Any) -> Any:
        given.append(timeout)
        raise RunError("your function did not end")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe, "run_sealed", late)
        observe.observe_reference(exercise)
    assert 30 < given[0] <= exercise.seconds
    assert sum(given) + observe.LIMIT / 2 < 60, "nbgrader's limit for a cell, with a look at the reference"


def test_a_loop_that_touches_no_array_is_found_by_its_lines() -> None:
    """It was told after 45 seconds: the run in Python counted accesses, and there were none."""

    def stuck(a: float, x: Any, y: Any) -> None:
        i = 0
        while i < x.size:
            pass

    def busy(a: float, x: Any, y: Any) -> None:
        for _ in range(40):
            for _ in range(40):
                x[0]

    found = trial_of_kernel(stuck, 2.0, np.ones(3), np.ones(3))
    assert found["problem"] == "endless"
    assert "1,048,576 lines without an access to its arrays. It stood at test_cpu.py, line" in found["told"]
    assert trial_of_kernel(busy, 2.0, np.ones(3), np.ones(3))["problem"] == ""


def test_lines_are_counted_from_one_access_to_the_next() -> None:
    def fn(x: Any, turns: int) -> None:
        for _ in range(10):
            x[0]
            for _ in range(turns):
                pass

    memory = Memory()
    x, before = memory.place(np.ones(3)), sys.gettrace()
    with lines_counted(memory, most=100):
        fn(x, 20)
    with pytest.raises(Busy, match="100 lines"), lines_counted(memory, most=100):
        fn(x, 60)
    assert sys.gettrace() is before
