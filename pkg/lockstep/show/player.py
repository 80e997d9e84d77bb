"""Figures of drawn steps: Python draws every state ahead, and sliders in the page choose one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lockstep.errors import UsageError
from lockstep.show.figure import Drawn, script


@dataclass(frozen=True)
class Sheet:
    """Drawings that follow each other, and what is said of each."""

    frames: Sequence[str]
    captions: Sequence[str]


@dataclass(frozen=True)
class Slider:
    """Chooses among sheets: its name, what each stop is called, and the stop that it stands on at first."""

    name: str
    stops: Sequence[str]
    at: int


class Player(Drawn):
    """``sheets[i]`` belongs to the sliders' stops, of which the last one turns fastest; ``step`` is a frame of a sheet.

    ``pause`` is how many milliseconds a step lasts while it plays.
    """

    module = script("player", "steps")
    label = ""
    pause = 1200

    def __init__(self, frames: Sequence[str], captions: Sequence[str], step: int = 0) -> None:
        self.frames, self.captions, self.step = tuple(frames), tuple(captions), step

    def sliders(self) -> Sequence[Slider]:
        """None, as long as there is one sheet."""
        return ()

    def sheets(self) -> Sequence[Sheet]:
        """All of them, with the shown one among them."""
        return (Sheet(self.frames, self.captions),)

    def state(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "pause": self.pause,
            "step": self.step,
            "sliders": [asdict(slider) for slider in self.sliders()],
            "sheets": [asdict(sheet) for sheet in self.sheets()],
        }

    def caption(self) -> str:
        return f"{self.label}. {self.captions[self.step]}".strip()

    def svg(self, step: int | None = None) -> str:
        """The still picture of ``step``, or of the step that is shown at first."""
        chosen = self.step if step is None else step
        if not 0 <= chosen < len(self.frames):
            raise UsageError(f"This figure has the steps 0 to {len(self.frames) - 1}, not {chosen}.")
        return self.frames[chosen]
