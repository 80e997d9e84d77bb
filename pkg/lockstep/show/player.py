"""Figures of drawn steps: Python draws every state ahead, and sliders in the page choose one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.errors import UsageError
from lockstep.show.figure import Drawn, script


@dataclass(frozen=True)
class Sheet:
    """Drawings that follow each other, and the caption of each.

    With ``moments`` it is one drawing with a clock (``show.motion``), which stops at these times; the last one shows
    everything, and is shown at first.
    """

    frames: Sequence[str]
    captions: Sequence[str]
    moments: Sequence[float] = ()


@dataclass(frozen=True)
class Slider:
    """Chooses among sheets: its name, what each stop is called, and the stop that it is set to at first."""

    name: str
    stops: Sequence[str]
    at: int


def with_clock(drawing: str, words: str, moments: Sequence[float], unit: str) -> Sheet:
    """A sheet of one drawing with a clock, in the unit that time is counted in there; at the end stands the whole."""
    told = [f"Until {moment:g} {unit}" for moment in moments[:-1]]
    return Sheet([drawing], [*told, words], moments)


class Player(Drawn):
    """``sheets`` are ordered by the sliders' stops, the last slider varying fastest; ``step`` is a frame of a sheet.

    ``pause`` is how many milliseconds a step lasts while it plays, ``unit`` what a step is called.
    """

    module = script("controls", "player", "steps")
    label = ""
    unit = "step"
    pause = 1200

    def __init__(
        self, frames: Sequence[str], captions: Sequence[str], step: int = 0, moments: Sequence[float] = ()
    ) -> None:
        self.frames, self.captions, self.moments = tuple(frames), tuple(captions), tuple(moments)
        self.step = len(moments) - 1 if moments else step

    def sliders(self) -> Sequence[Slider]:
        """The figure's sliders; none for a figure of one sheet."""
        return ()

    def sheets(self) -> Sequence[Sheet]:
        """All of them, with the shown one among them."""
        return (Sheet(self.frames, self.captions, self.moments),)

    def state(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "unit": self.unit,
            "pause": self.pause,
            "step": self.step,
            "sliders": [asdict(slider) for slider in self.sliders()],
            "sheets": [asdict(sheet) for sheet in self.sheets()],
        }

    def caption(self) -> str:
        return f"{self.label}. {self.captions[self.step]}".strip()

    def svg(self, step: int | None = None) -> str:
        """The still picture of ``step``, or of the step that is shown at first."""
        if self.moments:
            return self.frames[0]
        chosen = self.step if step is None else step
        if not 0 <= chosen < len(self.frames):
            raise UsageError(f"This figure has the steps 0 to {len(self.frames) - 1}, not {chosen}.")
        return self.frames[chosen]
