"""The checks of unit 02 beyond their known answers: what is refused, what is reported and not judged, what cannot be
read, and what a check must not depend on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numba import njit

from lockstep import checks
from lockstep.checks import observe
from lockstep.checks.case import Case
from lockstep.checks.guard import LibraryAnswer, references_refuse, refuse_borrowed
from lockstep.checks.load import load
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.observe import Ungraded
from lockstep.checks.verdict import score_of
from lockstep.cpu.compiled import compiling_problem, inner_loop, machine_code
from lockstep.cpu.tracing import Memory
from lockstep.errors import RunError
from lockstep.exercises.cpu import kernels
from lockstep.exercises.cpu.blocked_matmul.exercise import SHAPES, blocks
from lockstep.exercises.cpu.lines import Busy, lines_counted
from lockstep.exercises.cpu.observed_call import code
from lockstep.exercises.cpu.parallel_sum.exercise import SLACK
from lockstep.exercises.cpu.trial import try_in_python

SAXPY, DOT, MATMUL, SUM = (checks.find(f"cpu.{name}") for name in ("saxpy", "dot", "blocked_matmul", "parallel_sum"))


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


@pytest.mark.sampled(2)
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

    refuse_borrowed(outer)  # nothing is refused now
    with references_refuse("lockstep.cpu.dot"), pytest.raises(LibraryAnswer):
        refuse_borrowed(outer)


def seen_of(change: dict[str, Any], seed: int = 7, strict: dict[str, Any] | None = None, **found: Any) -> Observation:
    """An observation of a right dot, its last evidence changed; ``strict``: what it is without fastmath, if not the
    same."""
    (case,) = DOT.cases(1, seed)
    calls = DOT.inputs(case, 0)
    good = {"readable": True, "allocates": False, "blas": False, "lanes": 8, "bits": 32, "chains": 4, "stores": 0,
            "accumulators": 4.0, "text": "", "widths": [32]}  # fmt: skip
    bare = {"compiled": True, "parallel": False, "fastmath": False, "disabled": False, "problem": "", "where": "",
            "uncompilable": None, "python": 0.0, "code": {}, "temporary": 0}  # fmt: skip
    rows = [
        {**bare, "name": "the result", "result": float((x * y).sum()), "names": ["x", "y"],
         "arrays": [torch.tensor(x), torch.tensor(y)], "read": {"x": np.ones(x.shape, int).tolist()}}
        for x, y in calls
    ]  # fmt: skip
    rows[-1] |= {"code": good | found, "strict": good | {"lanes": 1} | (strict or found), "ratio": 0.0} | change
    return Observation(DOT.id, "processes", seen=(Seen(case, returned=(rows,)),))


def test_how_fast_it_was_is_shown_and_costs_nothing() -> None:
    slow, fast = (score_of(DOT, seen_of({"ratio": ratio})) for ratio in (0.1, 9.7))
    assert slow.points == fast.points == DOT.points
    assert "9.7 times as fast" in fast.picture


def test_code_that_cannot_be_read_is_ungraded_and_never_a_zero() -> None:
    with pytest.raises(Ungraded, match="neither x86-64 nor aarch64"):
        score_of(DOT, seen_of({}, readable=False))


@pytest.mark.parametrize(
    ("found", "points", "misconception"),
    [
        ({"lanes": 1}, 3, "scalar-code"),
        ({"accumulators": 2.0}, 2, "few-accumulators"),
        ({"lanes": 1, "accumulators": 1.0}, 1, "few-accumulators"),
        ({"lanes": 1, "accumulators": 0.0, "chains": 0}, 1, "few-accumulators"),
        ({"bits": 64, "lanes": 4}, 3.5, "float64-arithmetic"),
        ({"widths": [32, 64]}, 3.5, "float64-arithmetic"),
        ({"bits": 64, "lanes": 1, "accumulators": 1.0}, 0.5, "float64-arithmetic"),
        ({"accumulators": 1.0, "stores": 1, "allocates": True}, 2, "accumulators-in-memory"),
    ],
)
def test_each_flaw_has_its_price(found: dict[str, Any], points: float, misconception: str) -> None:
    score = score_of(DOT, seen_of({}, **found))
    assert (score.points, [f.misconception for f in score.findings]) == (points, [misconception])


def test_sums_in_memory_are_not_told_of_zip() -> None:
    """Four sums in an array, with fastmath: the reasons that were named had nothing to do with it."""
    (found,) = score_of(DOT, seen_of({"fastmath": True}, lanes=1, stores=4)).findings
    assert "your loop stores" in found.message
    assert "zip" not in found.message


def test_the_array_that_is_missed_too_often_is_named() -> None:
    """The lab's last hint had promised it."""
    advice = MATMUL.costs.budgets[0].advice
    assert callable(advice)
    for name, told in (("A", "2,000 of your misses are of A, where blocks need 720"), ("B", "misses are of B,")):
        misses = {"A": 700, "B": 700, "C and others": 700, name: 2000}
        rows = [{"order": shape, "misses": misses} for shape in SHAPES]
        said = advice(Seen(MATMUL.cases(1, 0)[0], returned=(rows,)))
        assert told in said
        assert "who says how wide a block is" not in said
    same = [row | {"order": ""} for row in rows]
    assert "with block = 4 as with block = 5" in advice(Seen(MATMUL.cases(1, 0)[0], returned=(same,)))


@pytest.mark.slow
def test_an_empty_array_that_is_read_is_told_each_time() -> None:
    """What np.empty gave was mostly zeros: one element of one of six products was wrong, by luck."""
    fn = load(MATMUL.wrong / "adds_to_empty.py", "blocked_matmul").function()
    for call in MATMUL.inputs(MATMUL.cases(1, 0)[0], 0):
        evidence = MATMUL.run.watch_known(fn, call)  # type: ignore[misc]
        assert evidence["empty"]
        assert torch.as_tensor(evidence["python"]["result"]).isnan().all()


def test_half_of_the_points_of_a_dot_product_are_for_its_strict_order() -> None:
    """It was solved at full points by fastmath on the plain loop: the compiler made the accumulators."""
    (found,) = score_of(DOT, seen_of({"fastmath": True}, strict={"accumulators": 1.0, "chains": 1})).findings
    assert (found.misconception, found.points) == ("few-accumulators", DOT.points / 2)
    assert "without fastmath only 1 of your additions" in found.message


@njit(fastmath=True)
def part(x: Any) -> Any:
    s = np.float32(0)
    for value in x:
        s += value
    return s


@njit(fastmath=True)
def whole(x: Any) -> Any:
    return part(x) + np.float32(1)


@pytest.mark.slow
def test_strict_code_has_no_fastmath_in_what_a_function_calls_either() -> None:
    assert code(whole, X)["accumulators"] > code(whole, X, strict=True)["accumulators"] == 1
    assert inner_loop(whole, X).lanes > inner_loop(whole, X, strict=True).lanes == 1


def test_a_small_array_of_sums_is_no_temporary_array() -> None:
    """64 lanes in an array were refused, where inner_loop counted 8 chains of 8 lanes."""
    assert score_of(DOT, seen_of({"temporary": 64}, allocates=True, stores=8, accumulators=8.0)).passed
    (found,) = score_of(DOT, seen_of({"temporary": 2049}, allocates=True)).findings
    assert found.misconception == "temporary-array"


def test_the_budget_of_misses_lies_between_blocks_and_rows() -> None:
    """Counted: 1,400 by blocks, 5,040 along rows, 43,320 down columns."""
    assert blocks(*SHAPES[-1]) > 1400
    assert 2 * blocks(*SHAPES[-1]) < 5040 / 1.5


def test_the_lab_tells_the_budget_that_the_check_has() -> None:
    lab = (Path(__file__).parents[2] / "course" / "02_cpu" / "lab.py").read_text()
    assert f"{2 * blocks(*SHAPES[-1]):,.0f} misses" in lab
    assert f"{SLACK} for each worker" in lab


def test_inputs_are_drawn_anew_from_each_seed_and_need_their_dtype() -> None:
    first, second = (DOT.inputs(Case(1, seed, settings={"told": ""}), 0)[0][0] for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert (first % 1).any(), "whole numbers pass where an answer cuts"
    x, _ = SUM.inputs(Case(1, 1, settings={"told": ""}), 0)[0]
    assert (x != x.astype("float32")).any(), "float32 has it all"


def test_a_product_of_matrices_is_exact_in_any_order() -> None:
    for A, B, _ in MATMUL.inputs(Case(1, 3, settings={"told": ""}), 0):
        assert np.array_equal(A @ B, (A[:, ::-1].astype(np.longdouble) @ B[::-1]).astype(float))


def test_a_wrong_sum_of_all_elements_is_told_no_reason() -> None:
    """With products of up to 64, a sum with one element twice was sometimes taken for that of one accumulator."""
    for seed in range(40):
        observation = seen_of({}, seed=seed)
        (seen,) = observation
        for (x, y), row in zip(DOT.inputs(seen.case, 0), seen.returned[0], strict=True):
            row["result"] += float(x[35] * y[35] + x[36] * y[36] + 1) if x.size > 36 else 0.0
        (found,) = score_of(DOT, observation).findings
        assert found.misconception == "wrong-values"


def test_elements_that_are_left_out_or_read_again_are_named() -> None:
    """ "2 do not divide 39" was told to an answer that was off by one."""
    for at, told in ({(36, 37, 38): "x[36] to x[38] are never read.", (0,): "x[0] is never read."}).items():
        observation = seen_of({})
        row = observation.seen[0].returned[0][0]
        row["result"] += 1
        for i in at:
            row["read"]["x"][i] = 0
        (found,) = score_of(DOT, observation).findings
        assert (found.misconception, told in found.message) == ("never-read", True)
    row["read"]["x"] = [1] * 38 + [2]
    (found,) = score_of(DOT, observation).findings
    assert (found.misconception, "x[38] is read again." in found.message) == ("read-twice", True)


def test_what_saxpy_returns_beside_a_right_y_costs_a_quarter_of_a_point(tmp_path: Path) -> None:
    """The text says "You return nothing", and who returned y got all points without a word."""
    head, body = (
        "import numpy as np\nfrom numba import njit\n\n\n@njit\n",
        ("def saxpy(a, x, y):\n    f = np.float32(a)\n    for i in range(x.size):\n        y[i] = f * x[i] + y[i]\n"),
    )
    right = answer(tmp_path, "cpu.saxpy", head + body)
    found = answer(tmp_path, "cpu.saxpy", head + body + "    return y\n")
    assert (right.points, found.points) == (SAXPY.points, SAXPY.points - 0.25), found.text()
    assert [f.misconception for f in found.findings] == ["returns-something"]


def test_where_numba_is_switched_off_nothing_is_graded() -> None:
    """With NUMBA_DISABLE_JIT=1, a learner's @njit does nothing: that is not the learner's fault."""
    off = {"compiled": False, "disabled": True}
    with pytest.raises(Ungraded, match="NUMBA_DISABLE_JIT"):
        score_of(DOT, seen_of(off))
    score = score_of(DOT, seen_of(off | {"disabled": False}))
    assert [f.misconception for f in score.findings] == ["not-compiled"]


def test_where_time_ran_out_compiling_is_named_too() -> None:
    """Right answers were told that they do not end: numba had taken the seconds to compile whole-row expressions."""
    (case,) = MATMUL.cases(1, 7)
    late = Failure("TimeLimit", "your function did not end within 35 seconds.")
    (found,) = score_of(MATMUL, Observation(MATMUL.id, "processes", seen=(Seen(case, failure=late),))).findings
    assert found.message.endswith(kernels.LATE)


@pytest.mark.parametrize("exercise", [SAXPY, DOT, MATMUL, SUM], ids=lambda e: e.function)
def test_a_compiled_exercise_may_take_its_own_time_and_ends_before_the_cell_does(exercise: Any) -> None:
    given = []

    def late(*args: Any, timeout: float, **kwargs: Any) -> Any:
        given.append(timeout)
        raise RunError("your function did not end")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe, "run_sealed", late)
        observe.observe_reference(exercise)
    assert 30 < given[0] <= exercise.run.timeout
    assert sum(given) + observe.LIMIT / 2 < 60, "nbgrader's limit for a cell, with a look at the reference"


@pytest.mark.slow
def test_known_answers_are_run_beside_a_learners_without_compiling_them() -> None:
    """A compiled call takes a second; a run in Python says the same of the values."""
    for exercise in (SAXPY, DOT, MATMUL, SUM):
        assert exercise.run.watch_known is not None
        (case,) = exercise.cases(1, 7)
        run = replace(exercise.run, watch=exercise.run.watch_known, real_machine=False)
        quick = replace(exercise, run=run, cases=lambda ranks, seed, case=case: [case])
        beside = observe.observe_reference(quick).seen[0]
        assert all("code" not in evidence for evidence in beside.returned[0])
        assert len(exercise.comparison.alike(beside)) == len(exercise.inputs(case, 0))


def test_a_loop_that_touches_no_array_is_found_by_its_lines() -> None:
    """It was told after 45 seconds: the run in Python counted accesses, and there were none."""

    def stuck(x: Any) -> None:
        i = 0
        while i < x.size:
            pass

    def busy(x: Any) -> None:
        for _ in range(40):
            for _ in range(40):
                x[0]

    found = try_in_python(stuck, ("x",), np.ones(3))
    assert found.problem == "endless"
    assert "1,048,576 lines without an access to its arrays" in found.told
    assert found.where.startswith("test_cpu.py, line")
    assert try_in_python(busy, ("x",), np.ones(3)).problem == ""


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


@njit
def of_values(a: float, x: Any, y: Any) -> None:
    i = 0
    for value in x:
        y[i] += np.float32(a) * value
        i += 1  # noqa: SIM113 - a learner's way


@njit
def helper(a: Any, x: Any) -> Any:
    return np.float32(a) * x


@njit
def by_helper(a: float, x: Any, y: Any) -> None:
    for i in range(x.size):
        y[i] += helper(a, x[i])


X, Y = np.ones(64, np.float32), np.ones(64, np.float32)


@pytest.mark.slow
def test_machine_code_is_read_for_one_cpu_whatever_the_learner_has() -> None:
    """A walk over values was scalar on one CPU, gathered on the next, and on a third a vector loop that nothing
    enters."""
    by_helper(2.0, X, Y)  # as it is: compiled for this machine, and so is its helper
    assert code(of_values, 2.0, X, Y)["lanes"] == 1
    assert code(by_helper, 2.0, X, Y)["lanes"] > 1
    before = machine_code(by_helper, 2.0, X, Y)
    assert machine_code(by_helper, 2.0, X, Y, cpu="generic") != before
    assert machine_code(by_helper, 2.0, X, Y) == before, "this machine's code is as it was"
    by_helper(2.0, X, Y)


def test_each_kernel_that_is_placed_right_earns_its_share() -> None:
    """One kernel of five was wrong, and all points were lost."""
    exercise = checks.find("cpu.place_kernels")
    score = checks.check_file(exercise.id, exercise.wrong / "no_reuse.py")
    assert "7 of 35 answers are wrong" in score.findings[0].message
    assert score.points == 2.25, "four fifths of 3 points, in quarters"


@pytest.mark.slow
def test_a_list_of_exercises_needs_no_numba() -> None:
    program = "import sys; from lockstep import checks; checks.find('cpu.dot'); sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def plain(x: Any) -> Any:
    return x + 1


@njit
def calls_plain(x: Any) -> Any:
    return plain(x[0])


@njit("float64(float64[:])")
def declared(x: Any) -> Any:
    return x[0]


@njit("float32(float32[:])")
def declared_well(x: Any) -> Any:
    return x[0]


@njit
def opens(x: Any) -> None:
    with open("a") as _:
        pass


def test_why_numba_cannot_compile_is_found_by_facts() -> None:
    """Words were looked for in numba's messages, and errors of other kinds than NumbaError ended the check."""
    assert compiling_problem(by_helper, 2.0, X, Y) is None
    assert compiling_problem(calls_plain, X)["plain"] == ["plain"]
    assert compiling_problem(declared, X)["declared"]
    assert compiling_problem(declared_well, X) is None
    assert not compiling_problem(opens, X)["declared"]
