"""The plain model of a schedule's picture: which bar stands in which stage's lane, and what the whole of it tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import Instruction, Stream
from lockstep.pipeline.schedule_costs import bubble, peak_activations, weight_versions
from lockstep.pipeline.schedules import streams
from lockstep.pipeline.simulate import Interval, Times, chunks_of, simulate
from lockstep.show import quantities

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
    """A schedule by its name, simulated with the given times. ``chunks`` counts for "interleaved" only."""

    name: str
    stages: int = 4
    micro_batches: int = 8
    chunks: int = 2
    times: Times = field(default_factory=Times)
    caption: str = ""

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
        """All that takes time."""
        return [i for i in simulate(self.streams, self.shared) if i.end > i.start]

    @property
    def shared(self) -> Times:
        """A chunk takes its share of a stage's time."""
        v = chunks_of(self.streams)
        return replace(self.times, scale=lambda stage: self.times.scale(stage) / v)

    @cached_property
    def total(self) -> float:
        return max(bar.end for bar in self.bars)

    @cached_property
    def idle(self) -> float:
        """The share of all stages' time."""
        return bubble(self.streams, self.shared)

    @cached_property
    def kept(self) -> list[int]:
        """Of each stage: activations of how many micro-batches (of one chunk) at once."""
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


def told(bar: Interval) -> str:
    """A bar in one line."""
    step = bar.step
    if not isinstance(step, Instruction):
        return f"stage {bar.stage}: update, {bar.start:g} to {bar.end:g}"
    chunk = f", chunk {step.chunk}" if step.chunk else ""
    name, times = type(step).__name__, f"{bar.start:g} to {bar.end:g}"
    return f"stage {bar.stage}: {name} of micro-batch {step.micro_batch}{chunk}, {times}"
