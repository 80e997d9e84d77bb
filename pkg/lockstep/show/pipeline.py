"""pipeline(): the timeline of a pipeline schedule, with sliders for the schedule and the number of micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from lockstep.errors import UsageError
from lockstep.pipeline.simulate import Times
from lockstep.show import pipeline_svg
from lockstep.show.pipeline_model import MOST_MICRO_BATCHES, NAMES, Schedule
from lockstep.show.player import Player, Sheet, Slider

PIPELINED = tuple(name for name in NAMES if name != "naive")


class Pipeline(Player):
    """The widget: every combination that its sliders can select is drawn in advance. See ``pipeline``."""

    label = "Pipeline schedule"
    unit = "slot"
    pause = 500

    def __init__(self, model: Schedule, among: Sequence[str] = PIPELINED) -> None:
        self.model, self.among = model, among
        choices = [replace(model, name=name, micro_batches=m) for name, m in product(*self._choices())]
        # While a slider moves, the axis stays.
        self.model = replace(model, until=max(choice.total for choice in choices))
        sheet = _sheet(self.model)
        super().__init__(sheet.frames, sheet.captions, moments=sheet.moments)

    def sliders(self) -> tuple[Slider, Slider]:
        names, counts = self._choices()
        return (
            Slider("schedule", [NAMES[name] for name in names], names.index(self.model.name)),
            Slider("micro-batches", [str(m) for m in counts], counts.index(self.model.micro_batches)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, name=name, micro_batches=m) for name, m in product(*self._choices())]
        return [_sheet(model) for model in models]

    def _choices(self) -> tuple[list[str], list[int]]:
        """Interleaving requires a multiple of the stages; with another number of micro-batches it is left out."""
        p, m = self.model.stages, self.model.micro_batches
        counts = sorted({n for n in (p, 2 * p, 3 * p) if n <= MOST_MICRO_BATCHES} | {m})
        return [name for name in self.among if m % p == 0 or name != "interleaved"], counts


def _sheet(model: Schedule) -> Sheet:
    """The drawing with a clock, which stops whenever a pass ends; at the end it is described as a whole."""
    told = [model.at(moment) for moment in model.moments[:-1]]
    return Sheet([pipeline_svg.draw(model)], [*told, model.words()], model.moments)


def pipeline(
    schedule: str = "one_f_one_b",
    stages: int = 4,
    micro_batches: int = 8,
    chunks: int = 2,
    times: Times | None = None,
    among: Sequence[str] = (),
) -> Pipeline:
    """The simulated timeline of a schedule. By default a forward pass takes one unit of time, a backward pass two.

    The numbers at each stage are the micro-batches whose activations it stores and, for PipeDream, the versions of its
    weights. ``chunks``: chunks of the model on each stage, for "interleaved". ``among``: the schedules on the slider,
    all with one axis of time; by default all but the naive one, which takes far longer.

    Raises UsageError for a schedule that ``lockstep.pipeline.schedules`` does not know, and for sizes beyond a picture.
    """
    among = among or [name for name in NAMES if name in (schedule, *PIPELINED)]
    if schedule not in among or not set(among) <= set(NAMES):
        raise UsageError(f"There is no schedule {schedule!r}.", f"Choose one of: {', '.join(NAMES)}.")
    return Pipeline(Schedule(schedule, stages, micro_batches, chunks, times or Times()), among)
