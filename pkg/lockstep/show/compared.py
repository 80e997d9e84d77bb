"""compared(): what ranks did in several runs, on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.errors import UsageError
from lockstep.events import Outcome
from lockstep.show.shared_lanes import side_by_side
from lockstep.show.timeline import Timeline


class Compared(Timeline):
    """See ``compared``."""

    title = "Compared on one axis"

    def __init__(self, runs: Mapping[str, Outcome]) -> None:
        self.lanes, self.waits = side_by_side(runs), None


def compared(runs: Mapping[str, Outcome]) -> Compared:
    """Draw the Results of several runs below each other, on one axis of time: name → Result. Each run's time is written
    where it ends; ranks that did the same at the same time share a lane.

    Raises UsageError for no run."""
    if not runs:
        raise UsageError("There is nothing to compare.", "Give names and Results, as in {'before': a, 'after': b}.")
    return Compared(runs)
