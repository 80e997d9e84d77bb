"""What a learner may hand to ``check``: each gets its own sentence, never a traceback of ours."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep import checks, progress, worlds
from lockstep.checks import Finding, Score, find
from lockstep.checks import verdict as assess
from lockstep.checks.observe import observe, observe_reference
from lockstep.collectives import ring_all_reduce as reference
from lockstep.errors import UsageError

RING = "communication.ring_all_reduce"
HANGING = ("crashed:TimeLimit", "crashed:Stuck")


def not_written(tensor, group=None):
    raise NotImplementedError


def other_parameters(x):
    return x


def number(tensor, group=None):
    return 3


def other_shape(tensor, group=None):
    return tensor.flatten()[:1]


def other_dtype(tensor, group=None):
    return tensor.double() if not tensor.dtype.is_floating_point else tensor.int()


def nothing(tensor, group=None):
    return None


def raises(tensor, group=None):
    return tensor.nope()


def leaves(tensor, group=None):
    os._exit(3)


def library(tensor, group=None):
    return reference(tensor, group)


def torchs_own(tensor, group=None):
    dist.all_reduce(tensor, group=group)


def weird(tensor, group=None):
    return [tensor, {1: object()}, lambda: 3]


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    ("fn", "verdict", "misconception", "told"),
    [
        (not_written, "wrong", "not-written", "not written yet"),
        (other_parameters, "wrong", "signature", "ring_all_reduce takes (tensor, group=None); yours takes (x)."),
        (number, "wrong", "wrong-type", "has 3 where a tensor is wanted"),
        (other_shape, "wrong", "wrong-shape", "has the shape (1,), the right one"),
        (other_dtype, "wrong", "wrong-dtype", "torch.int32, not torch.float32"),
        (nothing, "wrong", "unchanged", "Every tensor is as it was given. No rank sends anything."),
        (raises, "crashed", "crashed:RankRaised", "'Tensor' object has no attribute 'nope'"),
        (leaves, "crashed", "crashed:RankDied", "exit status 3"),
        (library, "wrong", "library-call", "You call Lockstep's own answer"),
        (torchs_own, "wrong", "library-call", "You call dist.all_reduce (test_check.py, line"),
        (weird, "wrong", "wrong-type", "3 values where a tensor is wanted"),
    ],
)
def test_a_mistake_gets_its_finding(fn: Callable[..., Any], verdict: str, misconception: str, told: str) -> None:
    score = checks.check(RING, fn)
    assert (score.verdict, score.points) == (verdict, 0)
    assert misconception in [f.misconception for f in score.findings]
    assert told in score.findings[0].message
    assert "pkg/lockstep" not in score.text()
    assert score.findings[0].points == score.maximum


def test_what_no_judge_can_compare_is_wrong_and_not_ungraded() -> None:
    """Parameters of another dtype made torch.isclose raise, and the judge's error was taken for the
    machine's: no grade, for whoever found that out. They are seen before anything is compared."""

    def offload(parameters, gradients, host, step, rate):
        for w in parameters:
            w.data = w.data.double()

    score = checks.check("fsdp.offload", offload)
    assert (score.verdict, score.points) == ("wrong", 0)
    assert [f.misconception for f in score.findings] == ["changes-arguments"]
    assert "into something of another type" in score.text()


def test_a_judge_that_cannot_judge_the_courses_own_answer_either_grades_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(seen: Any) -> None:
        raise RuntimeError("the judge's own")

    ping_pong = find("communication.ping_pong")
    ping_pong = replace(ping_pong, values=replace(ping_pong.values, examine=broken))
    monkeypatch.setattr(assess, "find", lambda id: ping_pong)
    score = checks.check("communication.ping_pong", lambda tensor, rounds, group=None: tensor)
    assert score.verdict == "ungraded"
    assert "the judge's own" in score.text()


def test_a_function_that_cannot_travel() -> None:
    lock = threading.Lock()

    def locked(tensor, group=None):
        with lock:
            return tensor

    score = checks.check(RING, locked)
    assert (score.verdict, score.points) == ("wrong", 0)
    assert "cannot be copied to the ranks" in score.findings[0].message
    score = checks.check("why_parallel.amdahl", lambda p, s: lock and 1.0)
    assert "cannot be copied to another process" in score.findings[0].message, "unit 00 knows of no ranks"


def test_a_function_that_prints_a_lot_is_still_judged() -> None:
    def loud(tensor, group=None):
        print("x" * 1_000_000)
        return 3

    score = checks.check("communication.mend_ring_of_sends", loud)
    assert "prints" in [f.misconception for f in score.findings]
    assert len(score.text()) < 2000


@pytest.mark.slow
def test_an_endless_loop_ends() -> None:
    def endless(tensor, group=None):
        while True:
            pass

    score = checks.check(RING, endless)
    assert score.verdict == "crashed"
    assert score.findings[0].misconception in HANGING


@pytest.mark.slow
def test_nothing_reaches_the_cell_beside_the_score(capfd: pytest.CaptureFixture[str]) -> None:
    import warnings

    def chatty(tensor, group=None):
        print("hello")
        warnings.warn("careful", stacklevel=1)
        return tensor

    checks.check("communication.mend_ring_of_sends", chatty)
    assert capfd.readouterr() == ("", "")


def test_an_unknown_exercise_is_a_usage_error_with_near_misses() -> None:
    with pytest.raises(UsageError, match=r"Did you mean communication.ring_all_reduce"):
        checks.check("communication.ring_allreduce", number)
    with pytest.raises(UsageError, match=r"Did you mean communication.ring_all_reduce"):
        find("ring_all_reduce")
    with pytest.raises(UsageError, match="named by a string"):
        find(3)


def test_what_is_no_function_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="without parentheses"):
        checks.check(RING, number(None))
    with pytest.raises(UsageError, match="check needs your function: none was given"):
        checks.check(RING)
    with pytest.raises(UsageError, match=r'exercise first.*\nWrite check\("communication.ring_all_reduce"'):
        checks.check(reference, RING)  # type: ignore[arg-type]


def test_an_unknown_world_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="dgx-a100"):
        checks.check(RING, number, on="dgx-a10")
    for on, meant in (
        ("procs", "processes"),
        ("process", "processes"),
        ("Virtual", "virtual"),
        ("dgxa100", "dgx-a100"),
    ):
        with pytest.raises(UsageError, match=f"There is no world '{on}'. Did you mean '{meant}'"):
            checks.check(RING, number, on=on)
    with pytest.raises(UsageError, match=r'There is no world 3\.\non="processes" is this machine'):
        checks.check(RING, number, on=3)  # type: ignore[arg-type]


def test_a_world_that_is_not_there_is_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    from lockstep.errors import WorldUnavailable

    def no_world(*args: Any, **kwargs: Any) -> None:
        raise WorldUnavailable("This machine has no loopback.")

    monkeypatch.setattr("lockstep.checks.observe.run_sealed", no_world)
    score = checks.check(RING, number)
    assert (score.verdict, score.points) == ("ungraded", 0)
    assert "no loopback" in score.findings[0].message
    assert RING not in progress.scores()


@pytest.mark.slow
def test_the_score_is_kept() -> None:
    checks.check(RING, nothing)
    assert progress.scores()[RING].verdict == "wrong"


def test_the_numbers_on_the_way_are_told_from_the_second_attempt_on() -> None:
    """The first wrong answer of the first lab was told most of the solution. An empty function is no attempt."""

    def amdahl(p, s):
        raise NotImplementedError

    def too_much(p, s):
        return 3 + (1 / (1 - p + p / s)) ** 2

    scores = [checks.check("why_parallel.amdahl", fn) for fn in (amdahl, too_much, too_much)]
    told = [score.findings[0].message for score in scores]
    assert "not written yet" in told[0]
    assert all("it is " in text for text in told[1:])
    assert ["On the way: " in text for text in told] == [False, False, True]


@pytest.mark.slow
def test_only_two_ranks_earns_a_part() -> None:
    def with_partner(tensor, group=None):
        r, K = dist.get_rank(group), dist.get_world_size(group)
        if K == 1:
            return tensor
        left = torch.empty_like(tensor.contiguous())
        posted = [dist.isend(tensor.contiguous(), group=group, group_dst=(r + 1) % K)]
        posted.append(dist.irecv(left, group=group, group_src=(r - 1) % K))
        for work in posted:
            work.wait()
        return tensor + left

    score = checks.check("communication.halving_doubling_all_reduce", with_partner)
    assert score.findings[0].misconception == "only-two-ranks"
    assert 0 < score.points < score.maximum / 2


def test_every_exercise_says_what_it_is() -> None:
    for exercise in checks.exercises():
        assert exercise.points > 0
        assert 5 <= exercise.minutes <= 60
        assert exercise.title
        assert callable(exercise.reference_function())
        assert exercise.signature.startswith(exercise.function)


@pytest.mark.slow
def test_a_function_of_no_module_is_checked_and_one_that_poses_as_the_librarys_is_guarded() -> None:
    """A function made by exec has no __module__, and was left ungraded; one that set it to ours escaped the guard."""
    namespace: dict[str, Any] = {}
    exec("def ring_all_reduce(tensor, group=None):\n    return tensor", namespace)
    namespace["ring_all_reduce"].__module__ = None
    assert checks.check(RING, namespace["ring_all_reduce"]).verdict == "wrong"

    def poses(tensor, group=None):
        from lockstep import collectives

        return collectives.ring_all_reduce(tensor, group)

    poses.__module__ = "lockstep.collectives.ring"
    assert [f.misconception for f in checks.check(RING, poses).findings] == ["library-call"]


def test_a_slow_machine_is_not_the_learners_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a grader at load 10 a right answer ran out of time, and got no points. What the reference cannot do in time,
    nobody can."""
    from lockstep.checks import verdict as assess
    from lockstep.checks.observation import Observation

    def nothing_in_time(exercise, *args, **kwargs):
        return Observation(exercise.id, "virtual", unseen=tuple(exercise.cases(2, 0)))

    monkeypatch.setattr(assess, "observe", nothing_in_time)
    monkeypatch.setattr(assess, "observe_reference", nothing_in_time)
    score = checks.check(RING, reference)
    assert score.verdict == "ungraded"
    assert "too busy" in score.findings[0].message


def test_a_slow_function_is_told_so_where_the_reference_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    from lockstep.checks import verdict as assess
    from lockstep.checks.observation import Observation

    def late(exercise, fn, on):
        return Observation(exercise.id, "virtual", unseen=tuple(exercise.cases(2, 0)))

    monkeypatch.setattr(assess, "observe", late)
    monkeypatch.setattr(assess, "observe_reference", lambda exercise, on, limit: Observation(exercise.id, "virtual"))
    score = checks.check(RING, lambda tensor, group=None: tensor)
    assert score.verdict == "wrong"
    assert score.findings[0].misconception == "too-slow"


def test_a_sandbox_that_begins_slowly_is_no_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer had stopped all processes of its sandbox. The next one took more than ten seconds to begin, which
    counted as the reference's time: "too busy to check anything", and no grade."""
    from lockstep.checks import verdict as assess
    from lockstep.checks.observation import Observation
    from lockstep.checks.observe import warm_up

    clock, begun = [0.0], []

    def begin(modules) -> None:
        if not begun:
            clock[0] += 60
        begun.append(True)

    def late(exercise, fn, on):
        return Observation(exercise.id, "virtual", unseen=tuple(exercise.cases(2, 0)))

    def quick(exercise, on, limit):
        warm_up(exercise, "virtual")
        return Observation(exercise.id, "virtual")

    monkeypatch.setattr(assess, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(assess, "observe", late)
    monkeypatch.setattr(assess, "observe_reference", quick)
    with worlds.carried_by(worlds.carry_out, begin):
        score = checks.check(RING, lambda tensor, group=None: tensor)
    assert begun
    assert score.findings[0].misconception == "too-slow"


@pytest.mark.slow
def test_the_reference_is_asked_only_where_a_slow_machine_could_be_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless loop took 18 s to be told, a good part of it for the reference on every world."""
    from lockstep.checks import verdict as assess

    asked = []

    def counted(exercise, on, limit):
        asked.append(exercise.worlds)
        return observe_reference(exercise, on, limit)

    monkeypatch.setattr(assess, "observe_reference", counted)

    def sends_for_ever(tensor, group=None):
        while dist.get_world_size(group) > 1:
            sending = dist.isend(tensor, group=group, group_dst=1 - dist.get_rank(group))
            dist.recv(tensor.clone(), group=group, group_src=1 - dist.get_rank(group))
            sending.wait()

    score = checks.check(RING, sends_for_ever)
    assert "messages at" in score.findings[0].message
    assert asked == []

    def counts_for_ever(tensor, group=None):
        while dist.get_world_size(group) > 1:
            tensor = tensor + 1
        return tensor

    assert checks.check(RING, counts_for_ever).findings[0].misconception in HANGING
    assert asked == [(2,)]


@pytest.mark.slow
def test_a_hang_is_told_of_the_case_that_hung() -> None:
    """A loop that ends for sizes that the ranks divide, and sends nothing where it does not: the case before, which had
    sent messages and was right, was blamed for it, and earned nothing."""

    def stops_where_it_divides(tensor, group=None):
        K, left = dist.get_world_size(group), tensor.numel()
        while left:
            left -= K
        everyone = [torch.empty_like(tensor) for _ in range(K)]
        dist.all_gather(everyone, tensor, group=group)
        return everyone[dist.get_rank(group) - 1]

    exercise = checks.find("communication.mend_ring_of_sends")
    observation = observe(exercise, stops_where_it_divides)
    assert [(s.case.size, bool(s.failure)) for s in observation] == [(1, False), (2, False), (2, True)]
    assert observation.seen[2].case.settings["numel"] % 2 == 1
    findings = checks.score_of(exercise, observation).findings
    assert findings[0].misconception in HANGING


def test_on_a_busy_machine_a_function_gets_several_times_what_the_reference_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A short limit tells of an endless loop soon. Where even the reference takes that long, it is no sign of one."""
    from lockstep.checks import verdict as assess
    from lockstep.checks.observation import Failure, Observation, Seen

    given = []

    def slow_reference(exercise, on, limit):
        time.sleep(0.8)
        return Observation(exercise.id, "virtual", seen=(Seen(exercise.cases(4, 0)[0]),))

    def slow(exercise, fn, on):
        case = exercise.cases(4, 0)[0]
        given.append(exercise.run.timeout)
        late = Failure("TimeLimit", "The run did not end.")
        return Observation(exercise.id, "virtual", seen=(Seen(case, failure=late if len(given) == 1 else None),))

    monkeypatch.setattr(assess, "observe", slow)
    monkeypatch.setattr(assess, "observe_reference", slow_reference)
    monkeypatch.setattr(
        assess, "score_of", lambda exercise, seen, closer: Score(exercise.id, 5, 5, _verdict(seen), _late(seen))
    )
    assert checks.check(RING, lambda tensor, group=None: tensor).passed
    assert given[0] == 2.5
    assert given[1] >= 4 * 0.8


def _late(observation: Any) -> list[Finding]:
    return [Finding("", "crashed:TimeLimit") for seen in observation if seen.failure]


def _verdict(observation: Any) -> str:
    return "crashed" if _late(observation) else "passed"


@pytest.mark.slow
def test_a_wrong_sum_is_shown_by_who_is_in_it() -> None:
    """Also where the mistake is known: the learner sees their own result, round by round, and what should be there."""
    exercise = checks.find(RING)
    score = checks.check_file(RING, exercise.wrong / "adds_twice.py", keep=False)
    assert score.findings[0].misconception == "adds-in-all-gather"
    assert "Who is in the result" in score.picture
    assert checks.check_file(RING, exercise.wrong / "whole_tensor.py", keep=False).picture == "", "its values are right"
