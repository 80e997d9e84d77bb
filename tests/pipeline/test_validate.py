"""The validator: every schedule passes, and every way to break one is told in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import (
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    ReceiveActivation,
    ReceiveGradient,
    Recompute,
    SendActivation,
    SendGradient,
    Stream,
    Update,
    computing,
)
from lockstep.pipeline.schedules import NAMES, streams
from lockstep.pipeline.simulate import Interval, simulate
from lockstep.pipeline.validate import busy_twice, check, faults


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("p", "m", "v"), [(1, 1, 1), (1, 3, 1), (2, 4, 1), (3, 2, 1), (4, 8, 1), (2, 4, 3), (4, 8, 2)])
def test_every_schedule_is_legal_with_and_without_its_messages(name: str, p: int, m: int, v: int) -> None:
    if v > 1 and name != "interleaved":
        return
    made = streams(name, p, m, v)
    assert faults(made, m, v) == []
    assert faults([computing(stream) for stream in made], m, v) == []
    assert busy_twice(simulate(made)) == []


def swapped(stream: Stream, a: object, b: object) -> Stream:
    i, j = stream.index(a), stream.index(b)
    stream = list(stream)
    stream[i], stream[j] = stream[j], stream[i]
    return stream


def without(stream: Stream, *steps: object) -> Stream:
    return [step for step in stream if step not in steps]


BROKEN: dict[str, tuple[str, Callable[[list[Stream]], list[Stream]], str]] = {
    "a forward pass is missing": (
        "gpipe", lambda s: [without(s[0], Forward(1)), s[1]], "Stage 0: 0 forward passes of micro-batch 1"),
    "a forward pass twice": (
        "gpipe", lambda s: [[Forward(1), *s[0]], s[1]], "Stage 0: 2 forward passes of micro-batch 1"),
    "a backward pass is missing": (
        "gpipe", lambda s: [s[0], without(s[1], Backward(0))], "Stage 1: 0 whole backward passes of micro-batch 0"),
    "a micro-batch too many": (
        "gpipe", lambda s: [[Forward(7), *s[0]], s[1]], "Stage 0: There is no micro-batch 7 with chunk 0"),
    "backward first": (
        "gpipe", lambda s: [s[0], swapped(s[1], Forward(1), Backward(1))],
        "The backward pass of micro-batch 1 comes before its forward pass"),
    "half a backward pass": (
        "zb_h1", lambda s: [without(s[0], BackwardWeights(0)), s[1]], "0 whole backward passes of micro-batch 0"),
    "weights before inputs": (
        "zb_h1", lambda s: [swapped(s[0], BackwardWeights(0), BackwardInput(0)), s[1]],
        "BackwardWeights of micro-batch 0 comes before its BackwardInput"),
    "recomputed too late": (
        "gpipe, re-materialised", lambda s: [s[0], swapped(s[1], Recompute(0), Backward(0))],
        "Recompute of micro-batch 0 does not stand once between"),
    "no update": ("gpipe", lambda s: [without(s[0], Update()), s[1]], "Stage 0: There is no Update"),
    "updated too early": (
        "gpipe", lambda s: [[*without(s[0], Update(), Backward(0)), Update(), Backward(0)], s[1]],
        "A backward pass stands after the last Update"),
    "nobody receives": (
        "gpipe", lambda s: [s[0], without(s[1], ReceiveActivation(1))],
        "Stage 0 sends the activation of micro-batch 1 from place 0, stage 1 does not receive it"),
    "nobody sends": (
        "gpipe", lambda s: [s[0], without(s[1], SendGradient(1))],
        "Stage 0 receives the gradient of micro-batch 1 from place 1, stage 1 does not send it"),
    "another order": (
        "gpipe", lambda s: [swapped(s[0], SendActivation(0), SendActivation(1)), s[1]],
        "Stage 1 receives in another order than stage 0 sends"),
    "sent before it is computed": (
        "gpipe", lambda s: [swapped(s[0], Forward(0), SendActivation(0)), s[1]],
        r"Stage 0: SendActivation\(0\) comes before Forward\(0\)"),
    "received too late": (
        "gpipe", lambda s: [swapped(s[0], ReceiveGradient(0), Backward(0)), s[1]],
        r"Stage 0: Backward\(0\) comes before ReceiveGradient\(0\)"),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_broken_is_told(how: str) -> None:
    name, broken, said = BROKEN[how]
    with pytest.raises(UsageError, match=said):
        check(broken(streams(name, 2, 2)), 2)


def test_stages_that_wait_for_each_other_are_told() -> None:
    """Each stage by itself is in order; together they are not."""
    first = [Forward(0), Backward(0), Forward(1), Backward(1), Update()]
    second = [Forward(1), Backward(1), Forward(0), Backward(0), Update()]
    (fault,) = faults([first, second], 2)
    assert fault.startswith("No stage can go on: stage 0 at Backward(0); stage 1 at Forward(1).")


def test_a_stage_that_is_busy_twice_is_told() -> None:
    drawn_by_hand = [Interval(0, Forward(0), 0, 2), Interval(0, Forward(1), 1, 3), Interval(1, Forward(0), 2, 3)]
    assert busy_twice(drawn_by_hand) == ["Stage 0 begins Forward(1) at 1 and is busy with Forward(0) until 2."]
