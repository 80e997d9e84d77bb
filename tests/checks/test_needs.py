"""Exercises whose ranks are real processes, and that cannot do without something that may be missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep import checks
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.observe import Ungraded, observe
from lockstep.errors import WorldUnavailable
from lockstep.with_horovod.available import MODULES
from lockstep.with_horovod.ranks import joined


def in_horovod(fn: Any, arguments: tuple[Any, ...]) -> float:
    with joined():
        return float(fn(*arguments))


def examine(seen: Seen) -> Fault | None:
    wanted = sum(range(seen.case.ranks))
    return None if set(seen.returned) == {wanted} else Fault("wrong-values", f"On {seen.case.ranks} ranks: no.")


SUM = Exercise(
    id="sample.total",
    title="Add",
    points=1,
    minutes=1,
    parameters="tensor, group=None",
    cases=lambda ranks, seed: [Case(ranks, seed + n) for n in range(2)],
    inputs=lambda case, rank: (torch.tensor([float(rank)]),),
    reference="lockstep.cost.fit:choose_algorithm",  # any module will do
    worlds=(1, 2),
    values=Values(examine=examine),
    run=Run(real_machine=True, watch=in_horovod, preload=MODULES),
)


def with_torch(fn: Any, arguments: tuple[Any, ...]) -> float:
    return float(fn(*arguments))


def sum_of_torch(tensor: torch.Tensor, group: Any = None) -> float:
    dist.all_reduce(tensor, group=group)
    return tensor.item()


def sum_of_horovod(tensor: torch.Tensor, group: Any = None) -> float:
    import horovod.torch as hvd

    return hvd.allreduce(tensor, op=hvd.Sum).item()


@pytest.mark.slow
def test_ranks_are_real_unless_another_world_is_named() -> None:
    exercise = replace(SUM, run=replace(SUM.run, watch=with_torch, preload=()))
    for on in (None, "processes"):
        observation = observe(exercise, sum_of_torch, on)
        assert observation.world == "processes"
        assert len(observation.seen) == 4
        assert checks.score_of(exercise, observation).passed


def test_a_simulation_of_them_is_refused_in_a_sentence() -> None:
    """It ran there, and all of it was judged by a clock that stands still."""
    for on in ("virtual", "dgx-a100"):
        with pytest.raises(Ungraded, match=f"real processes, and {on} is a simulation.\nCheck it with on="):
            observe(SUM, sum_of_horovod, on)


def test_a_pure_exercise_is_observed_where_it_can_be_whatever_is_named() -> None:
    without_horovod = replace(SUM.run, watch=with_torch, preload=())
    pure = replace(SUM, pure=True, worlds=(1,), parameters="n", run=without_horovod, inputs=lambda case, rank: ((3,),))
    assert observe(pure, lambda n: 3.0, "virtual").seen[0].failure is None


def test_what_is_missing_leaves_it_ungraded() -> None:
    def needs() -> None:
        raise WorldUnavailable("It is not installed here.", "Install it.")

    with pytest.raises(Ungraded) as raised:
        observe(replace(SUM, run=replace(SUM.run, require=needs)), sum_of_horovod)
    assert str(raised.value) == "It is not installed here.\nInstall it."


@pytest.mark.horovod
def test_an_answer_in_horovod_is_judged() -> None:
    score = checks.score_of(SUM, observe(SUM, sum_of_horovod))
    assert score.passed
    wrong = checks.score_of(SUM, observe(SUM, lambda tensor, group=None: 0.0 * tensor.item()))
    assert wrong.verdict == "wrong"
    assert "On 2 ranks: no." in wrong.text()


@pytest.mark.slow
@pytest.mark.horovod
def test_ranks_that_wait_for_each_other_in_horovod_are_a_deadlock() -> None:
    """It took the check's whole time, and was "Stuck" then."""

    def crossed(tensor: torch.Tensor, group: Any = None) -> float:
        import horovod.torch as hvd

        for name in ("x", "y") if hvd.rank() == 0 else ("y", "x"):
            hvd.allreduce(tensor, name=name)
        return tensor.item()

    observation = observe(SUM, crossed)
    failed = [seen.failure for seen in observation.seen if seen.failure]
    assert {failure.kind for failure in failed} == {"Deadlock"}
    assert [s.operation for s in failed[0].states] == ["allreduce 'x'", "allreduce 'y'"]
    told = " ".join(checks.score_of(SUM, observation).text().split())
    assert "rank 0 waits for rank 1, rank 1 waits for rank 0" in told
    assert "hvd.allreduce(tensor, name=name)" in told


@pytest.mark.horovod
def test_an_exception_in_horovod_is_the_learners_line() -> None:
    def misfit(tensor: torch.Tensor, group: Any = None) -> float:
        import horovod.torch as hvd

        return hvd.allreduce(torch.ones(1 + hvd.rank()), name="t").sum().item()

    observation = observe(SUM, misfit)
    failure = next(seen.failure for seen in observation.seen if seen.failure)
    assert failure.kind == "RankRaised"
    assert failure.exception == "horovod.common.exceptions.HorovodInternalError"
    assert "float32 [1] on rank 0, float32 [2] on rank 1" in failure.text
    assert failure.source == 'return hvd.allreduce(torch.ones(1 + hvd.rank()), name="t").sum().item()'


def test_a_slow_case_leaves_the_next_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine at load 10, three sizes took 20 s. The fourth was given one second, and a right answer was told that
    it "is right for two ranks and for no larger number"."""
    from lockstep.checks import observe as module

    given = []

    def late(*args: Any, timeout: float, **settings: Any) -> Any:
        given.append(timeout)
        raise WorldUnavailable("Enough.", "")

    monkeypatch.setattr(module, "run_sealed", late)
    plain = replace(SUM, run=replace(SUM.run, watch=None, preload=()))
    with pytest.raises(Ungraded):
        observe(plain, sum_of_torch, limit=0.5)
    assert given == [module.REAL_CASE_LIMIT / 3]
