"""The final report: a learner's own training step, predicted, simulated and measured, and where its time went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.cost.roofs import Roofs, Work
from lockstep.errors import UsageError
from lockstep.events import COLLECTIVES, Trace
from lockstep.show.three_roofs import ThreeRoofs, three_roofs
from lockstep.tables import Table
from lockstep.this_machine.survey import survey
from lockstep.worlds import Result, run

VIRTUAL = "virtual"


@dataclass(frozen=True)
class Report:
    """A program of equal steps, each of which ends with a collective of all ranks: as simulated, and as measured."""

    simulated: Result
    measured: Result
    steps: int

    @property
    def simulated_ms(self) -> float:
        """Milliseconds of a step, by the simulation of this machine."""
        return 1e3 * step_seconds(self.simulated.trace, self.steps)

    @property
    def measured_ms(self) -> float:
        """Milliseconds of a step, on processes of this machine: the mean of all but the first."""
        return 1e3 * step_seconds(self.measured.trace, self.steps)

    def where_table(self) -> Table:
        """Where a step's time goes: computing and waiting in collectives, in both worlds, on rank 0."""
        rows = []
        for name, result in (("simulated", self.simulated), ("measured", self.measured)):
            total = step_seconds(result.trace, self.steps)
            waits = waited(result.trace) / self.steps
            rows.append([name, f"{1e3 * total:.2f}", f"{1e3 * waits:.2f}", f"{1e3 * max(0.0, total - waits):.2f}"])
        head = ["", "ms a step", "ms in collectives", "ms of all else"]
        return Table("Where a step of rank 0 goes", head, rows)


def report(program: Callable[[], object], steps: int, ranks: int = 2) -> Report:
    """Run ``program`` on ``ranks`` simulated and real ranks of this machine. It has ``steps`` steps, each of which ends
    with a collective. Raises UsageError for fewer than two steps, and for a program with another number of collectives
    than a multiple of ``steps``."""
    if steps < 2:
        raise UsageError("The first step is slower than the others.", "Give your program two steps or more.")
    return Report(run(program, ranks=ranks, on=VIRTUAL), run(program, ranks=ranks), steps)


def step_seconds(trace: Trace, steps: int) -> float:
    """Seconds from the end of the first step to the end of the last, by the steps between: on rank 0."""
    ends = _ends(trace, steps)
    return (ends[-1] - ends[0]) / (steps - 1)


def waited(trace: Trace) -> float:
    """Seconds in which rank 0 was blocked by collectives."""
    return sum(event.wait for event in trace.of_rank(0) if event.kind in COLLECTIVES)


def _ends(trace: Trace, steps: int) -> Sequence[float]:
    ends = [event.end for event in trace.of_rank(0) if event.kind in COLLECTIVES]
    each, rest = divmod(len(ends), steps)
    if not each or rest:
        raise UsageError(
            f"Rank 0 calls {len(ends)} collectives, which are not equally many in {steps} steps.",
            "End each step with the same collectives, and give their number of steps.",
        )
    return ends[each - 1 :: each]


def roofs_of_this_machine() -> Roofs:
    """One core of this machine, as the survey has measured it: float32, and loopback for a network."""
    cluster = survey()
    device = cluster.device
    return Roofs(device.peak("float32"), device.memory_bandwidth, cluster.inside.bandwidth)


def placed(work: Work) -> ThreeRoofs:
    """A step under the roofs of this machine."""
    return three_roofs([work], roofs_of_this_machine())
