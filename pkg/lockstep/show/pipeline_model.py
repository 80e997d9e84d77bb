"""The model behind a picture of a pipeline schedule: the bars in each stage's lane, and a description in words.

``Schedule`` is one of the library's, ``Drawing`` one drawn by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from lockstep.errors import UsageError
from lockstep.pipeline import drawn_schedule
from lockstep.pipeline.drawn_schedule import Rows
from lockstep.pipeline.instructions import Instruction, Stream, from_pairs
from lockstep.pipeline.schedule_costs import bubble, peak_activations, weight_versions
from lockstep.pipeline.schedules import streams
from lockstep.pipeline.simulate import Interval, Times, chunks_of, simulate
from lockstep.show import motion, quantities

MOST_STAGES, MOST_MICRO_BATCHES = 16, 64
NAMES = {
    "naive": "naive",
    "gpipe": "GPipe",
    "gpipe, re-materialised": "GPipe, re-materialised",
    "one_f_one_b": "1F1B",
    "interleaved": "interleaved 1F1B",
    "pipedream": "PipeDream",
    "zb_h1": "ZB-H1",
}


@dataclass(frozen=True)
class Schedule:
    """A schedule by its name, simulated with ``times``. ``chunks`` matters for "interleaved" only. Raises UsageError
    for sizes that cannot be drawn."""

    name: str
    stages: int = 4
    micro_batches: int = 8
    chunks: int = 2
    times: Times = field(default_factory=Times)
    caption: str = ""
    until: float = 0.0  # where the axis of time ends, if that is later than the schedule does

    def __post_init__(self) -> None:
        if not 1 <= self.stages <= MOST_STAGES or not 1 <= self.micro_batches <= MOST_MICRO_BATCHES:
            raise UsageError(
                f"{self.stages} stages with {self.micro_batches} micro-batches cannot be drawn.",
                f"Choose 1 to {MOST_STAGES} stages, and 1 to {MOST_MICRO_BATCHES} micro-batches.",
            )

    @cached_property
    def streams(self) -> list[Stream]:
        return streams(self.name, self.stages, self.micro_batches, self.chunks if self.name == "interleaved" else 1)

    @cached_property
    def bars(self) -> list[Interval]:
        """The intervals that take time."""
        return [i for i in simulate(self.streams, self.shared) if i.end > i.start]

    @property
    def shared(self) -> Times:
        """The times of a chunk: 1/v of a stage's."""
        v = chunks_of(self.streams)
        return replace(self.times, scale=lambda stage: self.times.scale(stage) / v)

    @cached_property
    def total(self) -> float:
        return max(bar.end for bar in self.bars)

    @cached_property
    def idle(self) -> float:
        """The bubble, as a fraction of all stages' time."""
        return bubble(self.streams, self.shared)

    @cached_property
    def kept(self) -> list[int]:
        """For each stage, the most micro-batches (of one chunk) whose activations it stores at once."""
        return [peak_activations(stream) for stream in self.streams]

    @cached_property
    def versions(self) -> list[int]:
        return [weight_versions(stream) for stream in self.streams]

    def words(self) -> str:
        what = "chunks of micro-batches" if self.name == "interleaved" else "micro-batches"
        more = f", and {self.versions[0]} versions of its weights" if self.versions[0] > 1 else ""
        return (
            f"{NAMES[self.name]}: {quantities.count(self.stages, 'stage')}, "
            f"{quantities.count(self.micro_batches, 'micro-batch', 'micro-batches')}. "
            f"{self.total:g} units of time, {self.idle:.0%} of them idle. "
            f"Stage 0 keeps the activations of {self.kept[0]} {what}{more}."
        )

    @cached_property
    def moments(self) -> tuple[float, ...]:
        """Where the clock stops: whenever a pass ends."""
        return motion.moments((bar.end for bar in self.bars), self.total)

    def at(self, moment: float) -> str:
        """As in "Until 2: stage 0 Forward(1); stage 1 Forward(0); 2 of 4 wait."."""
        busy = [bar for bar in self.bars if bar.start < moment <= bar.end]
        does = "; ".join(f"stage {bar.stage} {bar.step!r}" for bar in sorted(busy, key=lambda bar: bar.stage))
        waiting = self.stages - len({bar.stage for bar in busy})
        return f"Until {moment:g}: {does or 'nothing'}; {waiting} of {self.stages} wait."


@dataclass(frozen=True)
class Drawing:
    """A schedule drawn by hand as rows of cells, one bar per slot. ``caption`` is added to its description."""

    rows: Rows
    caption: str = ""
    name: str = "drawing"

    @property
    def stages(self) -> int:
        return len(self.rows)

    @property
    def bars(self) -> list[Interval]:
        cells = [
            (stage, slot, cell)
            for stage, row in enumerate(self.rows)
            for cell, slot in drawn_schedule.when(row).items()
        ]
        steps = from_pairs([(cell[0], int(cell[1:])) for *_, cell in cells])
        return [Interval(stage, step, slot, slot + 1) for (stage, slot, _), step in zip(cells, steps, strict=True)]

    @property
    def total(self) -> float:
        return float(drawn_schedule.slots(self.rows))

    @property
    def until(self) -> float:
        return self.total

    @property
    def idle(self) -> float:
        return drawn_schedule.idle(self.rows)

    @property
    def kept(self) -> list[int]:
        return [max(of_stage, default=0) for of_stage in drawn_schedule.kept(self.rows)]

    @property
    def versions(self) -> list[int]:
        return [1] * self.stages

    def words(self) -> str:
        stages, slots = (
            quantities.count(self.stages, "stage"),
            quantities.count(drawn_schedule.slots(self.rows), "slot"),
        )
        return f"A drawing of {stages}: {slots}, {self.idle:.0%} idle. {self.caption}".strip()


def told(bar: Interval) -> str:
    """A bar as one line of text."""
    step = bar.step
    if not isinstance(step, Instruction):
        return f"stage {bar.stage}: update, {bar.start:g} to {bar.end:g}"
    chunk = f", chunk {step.chunk}" if step.chunk else ""
    name, times = type(step).__name__, f"{bar.start:g} to {bar.end:g}"
    return f"stage {bar.stage}: {name} of micro-batch {step.micro_batch}{chunk}, {times}"
