"""pipeline(): who computes what when, for each schedule, with sliders for the schedule and the micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from lockstep.errors import UsageError
from lockstep.pipeline.simulate import Times
from lockstep.show import pipeline_svg
from lockstep.show.pipeline_model import MOST_MICRO_BATCHES, NAMES, Schedule
from lockstep.show.player import Player, Sheet, Slider


class Pipeline(Player):
    """Every schedule and number of micro-batches that its sliders stop at is drawn ahead. See ``pipeline``."""

    label = "Pipeline schedule"

    def __init__(self, model: Schedule, among: Sequence[str] = tuple(NAMES)) -> None:
        self.model, self.among = model, among
        super().__init__([pipeline_svg.draw(model)], [model.words()])

    def sliders(self) -> tuple[Slider, Slider]:
        names, counts = self._choices()
        return (
            Slider("schedule", [NAMES[name] for name in names], names.index(self.model.name)),
            Slider("micro-batches", [str(m) for m in counts], counts.index(self.model.micro_batches)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, name=name, micro_batches=m) for name, m in product(*self._choices())]
        return [Sheet([pipeline_svg.draw(model)], [model.words()]) for model in models]

    def _choices(self) -> tuple[list[str], list[int]]:
        """Interleaving wants multiples of the stages: with another number it is left out."""
        p, m = self.model.stages, self.model.micro_batches
        counts = sorted({n for n in (p, 2 * p, 4 * p) if n <= MOST_MICRO_BATCHES} | {m})
        return [name for name in self.among if m % p == 0 or name != "interleaved"], counts


def pipeline(
    schedule: str = "one_f_one_b",
    stages: int = 4,
    micro_batches: int = 8,
    chunks: int = 2,
    times: Times | None = None,
    among: Sequence[str] = tuple(NAMES),
) -> Pipeline:
    """The schedule, simulated: a forward pass takes one unit of time, a backward pass two, unless ``times`` says
    otherwise. Beside each stage: how many micro-batches' activations it keeps, and with PipeDream how many versions of
    its weights. ``chunks``: of the model on each stage, for "interleaved". ``among``: the schedules that its slider
    has.

    Raises UsageError for a schedule that ``lockstep.pipeline.schedules`` does not know, and for sizes beyond a picture.
    """
    if schedule not in among or not set(among) <= set(NAMES):
        raise UsageError(f"There is no schedule {schedule!r}.", f"Choose one of: {', '.join(NAMES)}.")
    return Pipeline(Schedule(schedule, stages, micro_batches, chunks, times or Times()), among)
