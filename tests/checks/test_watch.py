"""Exercises that are not about messages: a watch calls the function and writes down what the judge needs."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from lockstep import checks
from lockstep.checks.calls import told_call
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, Feedback, Run, Values, find
from lockstep.checks.failures import of_a_test
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Failure, Seen
from lockstep.checks.observe import observe
from lockstep.checks.score import page


def in_its_process(fn: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    return {"values": fn(*arguments), "process": os.getpid(), "tensor": torch.arange(2)}


def examine(seen: Seen) -> Fault | None:
    return None if seen.returned[0][0]["values"] == [0, 1, 2] else Fault("wrong-values", f"With {seen.case}: no.")


def exercise(real: bool) -> Exercise:
    return Exercise(
        id="sample.count_up",
        title="Count",
        points=1,
        minutes=1,
        parameters="limit",
        cases=lambda ranks, seed: [Case(1, seed, settings={"told": "three numbers"})],
        inputs=lambda case, rank: ((3,),),
        reference="lockstep.cost.fit:choose_algorithm",  # any module will do
        worlds=(1,),
        pure=True,
        values=Values(examine=examine),
        run=Run(watch=in_its_process, real_machine=real),
        feedback=Feedback(picture=lambda seen: f"<svg><title>{len(seen.returned[0])} drawn</title></svg>"),
    )


@pytest.mark.slow
def test_what_a_watch_writes_down_reaches_the_judge() -> None:
    for real, world in ((True, "processes"), (False, "virtual")):
        observation = observe(exercise(real), lambda limit: [0, 1, 2])
        evidence = observation.seen[0].returned[0][0]
        assert evidence["values"] == [0, 1, 2]
        assert evidence["process"] != os.getpid()
        assert evidence["tensor"].tolist() == [0, 1]
        assert observation.world == world
        assert checks.score_of(exercise(real), observation).passed


def test_a_finding_names_the_case_in_its_own_words() -> None:
    score = checks.score_of(exercise(False), observe(exercise(False), lambda limit: []))
    assert (score.verdict, score.points) == ("wrong", 0)
    assert "With three numbers: no." in score.text()


def test_the_exercise_draws_its_own_picture() -> None:
    score = checks.score_of(exercise(False), observe(exercise(False), lambda limit: [0, 1, 2]))
    assert 'alt="1 drawn"' in page(score)


def test_where_there_is_no_figure_none_is_spoken_of() -> None:
    """Below a call that raised stood "The figure shows your run with p = 0.85.", and there was none."""

    def raises(limit: int) -> list[int]:
        raise ValueError(limit)

    spoken = []
    for fn in (raises, lambda limit: [0, 1, 2]):
        score = checks.score_of(exercise(False), observe(exercise(False), fn))
        spoken.append("The figure shows your run with three numbers." in page(score))
    assert spoken == [False, True]


def test_the_reference_module_refuses_a_learner() -> None:
    def cheat(limit: int) -> str:
        from lockstep.cost.fit import choose_algorithm

        return choose_algorithm(limit, 4, 1e-6, 1e-9)

    score = checks.score_of(exercise(False), observe(exercise(False), cheat))
    assert [f.misconception for f in score.findings] == ["library-call"]


def test_a_watch_gets_what_the_file_defines_not_a_wrapper(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("from numba import njit\n\n@njit\ndef count_up(limit):\n    return limit\n")
    assert checks.load.load(tmp_path / "answer.py", "count_up").function().py_func(3) == 3


def test_the_signature_of_a_jitted_function_is_read_from_its_text(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("from numba import cuda\n\n@cuda.jit()\ndef count_up():\n    pass\n")
    observation = observe(exercise(False), checks.load.load(tmp_path / "answer.py", "count_up"))
    assert "takes (limit); yours takes ()" in observation.signature


def goes_round(limit: int) -> None:
    while limit:
        time.sleep(0.01)


@pytest.mark.slow
def test_cases_of_a_pure_exercise_share_a_process_until_one_fails() -> None:
    several = replace(exercise(False), cases=lambda ranks, seed: [Case(1, n, settings={"told": "?"}) for n in range(3)])
    together = [s.returned[0][0]["process"] for s in observe(several, lambda limit: [0, 1, 2])]
    assert len(together) == 3
    assert len(set(together)) == 1
    failures = [s.failure for s in observe(several, lambda limit: 1 / 0)]
    assert [f.kind for f in failures if f] == ["RankRaised"] * 3
    short = replace(several.run, timeout=6.0)  # a busy machine may take two to start the rank
    endless = replace(several, run=short, cases=lambda ranks, seed: [Case(1, 0, settings={"told": "?"})])
    (seen,) = observe(endless, goes_round)
    assert seen.failure
    assert seen.failure.message.startswith("count_up(3) did not end within 6 seconds.")
    assert "rank" not in str(seen.failure)
    assert all(f.message.startswith("count_up(3) raised ZeroDivisionError") for f in failures if f)


def test_a_test_that_a_learner_writes_runs_on_machines_that_have_a_name() -> None:
    """A cluster that was made slower became the stock one of its name, without a word."""

    def on_a_changed_one(fn: Any) -> bool:
        from lockstep import run
        from lockstep.machines import find

        return bool(run(fn, torch.ones(2), ranks=2, on=find("dgx-a100").with_rank(0, speed=0.5)))

    score = checks.check("communication.is_all_reduce", on_a_changed_one)
    assert "run() simulates the machines that Lockstep knows by name, and no changed dgx-a100." in " ".join(
        score.text().split()
    )


def numbered(seconds: float) -> Exercise:
    """Three cases, of the limits 0 and 1, 10 and 11, 20 and 21."""
    counting = exercise(False)
    return replace(
        counting,
        cases=lambda ranks, seed: [Case(1, 10 * n, settings={"told": f"case {n}"}) for n in range(3)],
        inputs=lambda case, rank: ((case.seed,), (case.seed + 1,)),
        run=replace(counting.run, timeout=seconds),
    )


@pytest.mark.slow
def test_a_hang_names_the_numbers_of_its_call_and_is_not_repeated() -> None:
    """Of forty calls one did not come to an end, and the learner was told that the function did not."""

    def fn(limit: int) -> list[int]:
        while limit == 11:
            pass
        return [0, 1, 2]

    observation = observe(numbered(6.0), fn)
    first, hung = observation.seen
    assert (first.failure, first.case.seed) == (None, 0)
    assert [a["values"] for a in first.returned[0]] == [[0, 1, 2]] * 2
    assert hung.case.seed == 10
    assert hung.failure
    assert hung.failure.message.startswith("count_up(11) did not end within 6 seconds.")
    assert [case.seed for case in observation.unseen] == [20]


def test_many_slow_calls_are_not_told_as_one_that_hangs() -> None:
    def slow(limit: int) -> list[int]:
        time.sleep(0.8)
        return [0, 1, 2]

    observation = observe(numbered(4.0), slow)
    assert len(observation.seen) == 3  # each case for itself is fast enough
    assert not any(seen.failure for seen in observation)


@pytest.mark.parametrize(("arguments", "told"), [
    ((8.0,), "count_up(8.0)"),
    ((1 / 3,), "count_up(0.3333333333333333)"),
    (([1, 2.5, 3, 4, 5, 6, 7],), "count_up([1, 2.5, 3, 4, 5, 6, ...])"),
    (({"weights": "bfloat16"},), "count_up({'weights': 'bfloat16'})"),
    (("a hidden fit",), ""),
    ((torch.arange(3),), ""),
    ((1, 2), ""),  # not what the function is called with: a watch calls it
])  # fmt: skip
def test_a_call_is_told_where_a_line_holds_it(arguments: tuple[Any, ...], told: str) -> None:
    assert told_call(exercise(False), arguments) == told


def test_texts_beside_other_arguments_are_told() -> None:
    call = 0, 2, 10**12, "F", "none"
    assert told_call(find("pipeline.weight_version"), call) == "weight_version(0, 2, 1000000000000, 'F', 'none')"


def makes_runs(fn: Any) -> bool:
    from lockstep import run

    return not all(run(int, ranks=1, on="virtual").values for _ in range(20))


def waits_after_one(fn: Any) -> bool:
    from lockstep import run

    for _ in range(4):
        run(int, ranks=1, on="virtual")
    while True:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "told"),
    [
        (makes_runs, "seconds were left for the 14 calls"),
        (waits_after_one, "4 times. Either a loop never ends, or it takes longer"),
    ],
)
def test_a_test_that_is_too_slow_is_told_of_its_runs(test: Any, told: str) -> None:
    """A right test with nine runs was asked on a busy machine whether its loops end."""
    catch = find("communication.is_all_reduce")
    (*_, last) = observe(replace(catch, run=replace(catch.run, timeout=2.0)), test, limit=2.0)
    assert last.failure
    assert last.failure.paced
    assert told in f"{last.failure.message} {last.failure.remedy}"


def test_the_runs_of_a_test_say_why_it_is_slow() -> None:
    failure = Failure("TimeLimit", "your test did not end within 40 seconds.", limit=40.0)
    slow = of_a_test(failure, 80, call=9, calls=18, hangs=False)
    assert slow.message.endswith("in call 9. It had called run() 80 times, about 0.5 seconds each.")
    assert "loop" not in slow.remedy
    many = of_a_test(failure, 400, call=1, calls=18, hangs=True)
    assert many.remedy.startswith(
        "Until then it had called run() 400 times, about 0.1 seconds each. Are those too many?"
    )
