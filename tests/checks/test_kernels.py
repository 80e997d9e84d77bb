"""Exercises on the warp machine: what is told of a kernel, and how it is recognised."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import torch
from numba import cuda

from lockstep import checks
from lockstep.checks import load, observe, rank_program, recognise, transport
from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.transforms import changed_tensors
from lockstep.exercises.gpu import launches, patients

KERNELS = [e for e in checks.exercises() if e.topic == "gpu" and e.run.watch_known is launches.watch]
FRACTIONS = [e for e in KERNELS if e.function != "private_histogram"]  # it is given whole numbers, as its text says
GRIDS = [e for e in KERNELS if e.function in ("vector_add", "saxpy_grid_stride")]


def observed(exercise: Any, fn: Callable[..., Any], case: Case) -> Seen:
    return Seen(case, ([launches.watch(fn, call) for call in exercise.inputs(case, 0)],), ([],))


def first_case(exercise: Any) -> Case:
    return exercise.cases(1, 7)[0]


@pytest.mark.parametrize("exercise", FRACTIONS, ids=lambda e: e.function)
def test_no_cast_to_another_type_gives_the_right_values(exercise: Any) -> None:
    """Neither whole numbers nor float16 hold what the kernels are given."""
    for of_type in (np.int32, np.float16):
        kept = []
        for case in exercise.cases(1, 7):
            _, _, arguments = exercise.inputs(case, 0)[0]
            arrays = [a for a in arguments if isinstance(a, np.ndarray) and a.any() and not (a == a.flat[0]).all()]
            with np.errstate(over="ignore"):
                kept += [np.array_equal(a.astype(of_type).astype(np.float32), a) for a in arrays]
        assert not all(kept)


@pytest.mark.parametrize("exercise", GRIDS, ids=lambda e: e.function)
def test_blocks_of_no_multiple_of_a_warp_are_tried(exercise: Any) -> None:
    settings = [case.settings for case in exercise.cases(1, 7)]
    assert any(s["threads"] % 32 for s in settings)
    assert any(s["n"] % (s["blocks"] * s["threads"]) for s in settings)


@cuda.jit
def writes_what_all_write(alpha, x, y):
    y[cuda.threadIdx.x] = cuda.blockIdx.x


def test_a_race_for_an_argument_is_a_lost_update_and_may_be_recognised() -> None:
    exercise = checks.find("gpu.saxpy_grid_stride")
    seen = observed(exercise, writes_what_all_write, first_case(exercise))
    assert exercise.values.examine is not None
    fault = exercise.values.examine(seen)
    assert fault is not None
    assert (fault.misconception, fault.telling) == ("lost-update", True)


@cuda.jit
def columns_after_a_tile(source, target):
    tile = cuda.shared.array((32, 33), numba.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if x < source.shape[1] and y < source.shape[0]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    if x < source.shape[1] and y < source.shape[0]:
        target[x, y] = tile[ty, tx]


def test_the_line_that_moves_the_most_is_named() -> None:
    """A tile, and columns written all the same: neither the line nor the array was told."""
    exercise = checks.find("gpu.transpose")
    fault = exercise.costs.budgets[1].over(
        observed(exercise, columns_after_a_tile, first_case(exercise)), exercise.costs.algorithm
    )
    assert fault is not None
    assert ": target[x, y] = tile[ty, tx]\n" in fault.message


def test_a_hazard_is_told_as_the_mistake_of_a_known_answer() -> None:
    exercise = checks.find("gpu.saxpy_grid_stride")
    score = checks.check_file(exercise.id, exercise.wrong / "stride_of_a_block.py")
    assert [f.misconception for f in score.findings] == ["stride-of-a-block"]


def test_a_budget_on_a_count_of_its_own_says_nothing_of_messages() -> None:
    measure = Measure(lambda seen: 2.5, "wavefront", "a request takes {}", "{}", "wavefronts")
    seen = Seen(Case(1, 0, settings={"told": "a tile"}))
    over = Budget(measure, lambda case: 1).over(seen, "a tile")
    under = Budget(measure, lambda case: 4, at_most=None, at_least=1).under(seen, "a tree")
    assert over == Fault(
        "too-many-wavefronts",
        "With a tile, a request takes 2.5 wavefronts: 2.5 times the 1 that a tile needs.",
    )
    assert under == Fault(
        "too-few-wavefronts",
        "With a tile, a request takes 2.5 wavefronts. Less than 4 is not enough for a tree: the values came about in "
        "another way.",
    )


def test_right_values_of_another_type_are_no_change_of_values() -> None:
    right = torch.tensor([1.25, 2.5])
    assert changed_tensors([right.double()], [right], [None]) is None


def test_known_answers_run_together_cannot_spoil_each_other(tmp_path: Path) -> None:
    (tmp_path / "empties.py").write_text("def f(values):\n    values.clear()\n    return 1\n")
    (tmp_path / "raises.py").write_text("def f(values):\n    raise ValueError(values)\n")
    (tmp_path / "counts.py").write_text("def f(values):\n    return len(values)\n")
    answers = [load.load(tmp_path / f"{name}.py", "f") for name in ("empties", "raises", "counts")]
    told = transport.decoded(rank_program.play_each_pure(answers, "", rank_program.returned, [([1, 2],)]))
    assert told == [[1], None, [2]]


def test_answers_to_a_pure_exercise_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process, and not again for the next answer that is checked."""
    exercise, runs = checks.find("gpu.reduce_shuffle"), []

    def counted(*arguments: Any) -> list[Seen]:
        runs.append(arguments)
        return observe.observe_each(*arguments)

    monkeypatch.setattr(recognise, "_seen_before", {})
    monkeypatch.setattr(recognise, "observe_each", counted)
    for name in ("upward", "one_warp_only"):
        checks.check_file(exercise.id, exercise.wrong / f"{name}.py")
    assert len(runs) == 1


def test_each_patient_that_is_named_right_earns_its_share() -> None:
    """One kind of healthy kernels of five was called sick, and all of the healthy ones' points were lost."""
    exercise = checks.find("gpu.diagnose")
    score = checks.check_file(exercise.id, exercise.wrong / "any_atomic.py")
    assert "4 of 20 answers are wrong" in score.findings[0].message
    assert score.points == 2.75, "3 points for five illnesses and four fifths of the sixth, in quarters"


def test_healthy_patients_have_an_atomic_and_doubles_in_shared_memory() -> None:
    healthy = patients.counts("healthy", 3)
    assert any(0 < c["atomics"] < c["threads"] / 8 for c in healthy)
    assert any(c["shared_requests"] and c["wavefronts"] == 2 * c["shared_requests"] for c in healthy)
    assert not any(c["races"] for c in healthy)


@cuda.jit
def forgets_alpha(alpha, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = 2.5 * x[i] + y[i]


def test_alpha_is_not_always_the_same_number() -> None:
    """It was 2.5 in each case, and who had written 2.5 for alpha got all points."""
    exercise = checks.find("gpu.saxpy_grid_stride")
    for seed in range(3):
        assert {exercise.inputs(case, 0)[0][2][0] for case in exercise.cases(1, seed)} == {2.5, -0.5, 3.0}
    assert not checks.check(exercise.id, forgets_alpha).passed


@cuda.jit
def four_rounds(values, out):
    i = cuda.grid(1)
    v = values[i] if i < values.size else numba.float32(0.0)
    for k in range(4):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, 8 >> k)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


@cuda.jit
def upside_down(source, target):
    x, y = cuda.grid(2)
    if x < source.shape[1] and y < source.shape[0]:
        target[x, source.shape[0] - 1 - y] = source[y, x]


@cuda.jit
def adds_twice(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 2 * b[i]


@cuda.jit
def half_handed_over(values, counts):
    own = cuda.shared.array(64, numba.int32)
    t = cuda.threadIdx.x
    if t < 64:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(own, values[i], 1)
    cuda.syncthreads()
    if 32 <= t < 64:
        cuda.atomic.add(counts, t, own[t])


TOLD = (
    ("reduce_shuffle", four_rounds, "Where every value is 1, out[0] is 256, and should be 500. Where only the 32 "
     "values of one warp of block 0 are, it is 16, 16, 16 and 16, by warps."),
    ("transpose", upside_down, "That is source[63, 0]."),
    ("vector_add", adds_twice, "Before the call: a[0] = "),
    ("private_histogram", half_handed_over, "All of your counts add up to "),
)  # fmt: skip


@pytest.mark.parametrize(("function", "fn", "told"), TOLD, ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_element_comes_with_a_help_where_nobody_knows_the_mistake(
    function: str, fn: Callable[..., Any], told: str
) -> None:
    """ "out[0] is -73,866, not -173,844" was all that a learner read."""
    score = checks.check(f"gpu.{function}", fn)
    assert told in score.findings[0].message, score.text()
