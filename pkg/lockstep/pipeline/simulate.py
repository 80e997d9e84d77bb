"""A simulation of a schedule: when each instruction runs, given how long each takes. No ranks, no tensors.

    a stage does one thing at a time, in the order of its stream
    Forward at a place begins when the Forward at the previous place has ended, and its message has arrived
    Backward at a place begins when the Backward at the next place has ended, and its message has arrived

A message takes ``message`` seconds, during which both stages may compute. Ports, links and rendezvous are modelled only
by the virtual cluster, which executes the same stream; the timelines here are those that papers draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import (
    BACKWARDS,
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    Instruction,
    Recompute,
    Step,
    Stream,
    Update,
    computing,
    place,
    seat,
)

Key = tuple[bool, int, int]  # is it a backward pass, place, micro-batch
UNIT: Mapping[type, float] = {
    Forward: 1.0, Recompute: 1.0, Backward: 2.0, BackwardInput: 1.0, BackwardWeights: 1.0, Update: 0.0
}  # fmt: skip


@dataclass(frozen=True)
class Times:
    """Seconds of each kind of instruction, and of a message. ``scale``: a factor for all instructions of a stage, for
    stages that are not balanced."""

    of: Mapping[type, float] = field(default_factory=lambda: UNIT)
    message: float = 0.0
    scale: Callable[[int], float] = lambda stage: 1.0

    @classmethod
    def equal(cls, message: float = 0.0) -> Times:
        """A backward pass takes as long as a forward pass: easier to draw, and as in GPipe's figure."""
        return cls({**UNIT, Backward: 1.0}, message)

    def seconds(self, step: Step, stage: int) -> float:
        return self.of[type(step)] * self.scale(stage)


class Interval(NamedTuple):
    """``stage`` executes ``step`` from ``start`` to ``end``, in seconds."""

    stage: int
    step: Step
    start: float
    end: float


def simulate(streams: Sequence[Stream], times: Times | None = None) -> list[Interval]:
    """All intervals, ordered by start. Raises Stalled, a UsageError, if the stages deadlock."""
    times = times or Times()
    orders, stages = [computing(stream) for stream in streams], len(streams)
    last = stages * chunks_of(streams) - 1
    done: dict[Key, float] = {}  # when its result was available
    at, free = [0] * stages, [0.0] * stages
    intervals = list[Interval]()
    while any(at[s] < len(orders[s]) for s in range(stages)):
        able = [s for s in range(stages) if at[s] < len(orders[s]) and ready(orders[s][at[s]], s, stages, last, done)]
        if not able:
            raise Stalled([order[i:] for order, i in zip(orders, at, strict=True)])
        for s in able:
            step = orders[s][at[s]]
            before = awaited(step, s, stages, last)
            arrives = done[before] + times.message * (seat(before[1], stages)[1] != s) if before else 0.0
            begin = max(free[s], arrives)
            free[s] = begin + times.seconds(step, s)
            at[s] += 1
            intervals.append(Interval(s, step, begin, free[s]))
            if isinstance(step, (Forward, *BACKWARDS)):
                done[not isinstance(step, Forward), place(step.chunk, s, stages), step.micro_batch] = free[s]
    return sorted(intervals, key=lambda interval: (interval.start, interval.stage))


def awaited(step: Step, stage: int, stages: int, last: int) -> Key | None:
    """The pass, at another place or here, that ``step`` depends on; None if there is none."""
    if not isinstance(step, (Forward, *BACKWARDS)):
        return None
    here, backward = place(step.chunk, stage, stages), not isinstance(step, Forward)
    if backward:
        return (True, here + 1, step.micro_batch) if here < last else (False, here, step.micro_batch)
    return (False, here - 1, step.micro_batch) if here else None


def ready(step: Step, stage: int, stages: int, last: int, done: Mapping[Key, float]) -> bool:
    before = awaited(step, stage, stages, last)
    return before is None or before in done


def chunks_of(streams: Sequence[Stream]) -> int:
    """v, the number of chunks on each stage."""
    return 1 + max((s.chunk for stream in streams for s in stream if isinstance(s, Instruction)), default=0)


class Stalled(UsageError):
    """The stages deadlock. ``left``: what each of them still has to do."""

    def __init__(self, left: Sequence[Stream]) -> None:
        waiting = "; ".join(f"stage {s} at {order[0]!r}" for s, order in enumerate(left) if order)
        super().__init__(
            f"No stage can go on: {waiting}. Each waits for what another one would do later.",
            "A Forward needs the Forward of the stage before, a Backward that of the next stage.",
        )
        self.left = left
