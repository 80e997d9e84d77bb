"""ring(): the ring all-reduce, step by step under a slider."""

from __future__ import annotations

from typing import Any

import traitlets

from lockstep.errors import UsageError
from lockstep.show import ring_svg
from lockstep.show.figure import Figure, script
from lockstep.show.ring_model import Step, caption, simulate


class Ring(Figure):
    """The widget: ``step`` is the slider's place, ``ranks`` the ring's size; Python may set both. See ``ring``."""

    _esm = script("player", "ring")
    step = traitlets.Int(0).tag(sync=True)
    ranks = traitlets.Int(4).tag(sync=True)
    frames = traitlets.List(traitlets.Unicode()).tag(sync=True)
    captions = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, ranks: int = 4, chunks: int | None = None) -> None:
        self.is_whole = chunks == 1 and ranks > 1
        self.steps = simulate(ranks, chunks)
        super().__init__(ranks=ranks, **self._drawn())

    def _drawn(self) -> dict[str, list[str]]:
        n = len(self.steps)
        return {
            "frames": [ring_svg.draw(s, n) for s in self.steps],
            "captions": [" ".join(caption(s, n)) for s in self.steps],
        }

    @traitlets.validate("step")
    def _clamp(self, proposal: Any) -> int:
        return int(min(max(0, proposal["value"]), len(self.steps) - 1))

    @traitlets.validate("ranks")
    def _possible(self, proposal: Any) -> int:
        simulate(proposal["value"])
        return int(proposal["value"])

    @traitlets.observe("ranks")
    def _again(self, change: Any) -> None:
        self.steps = simulate(self.ranks, 1 if self.is_whole else None)
        with self.hold_sync():
            self.step = 0
            drawn = self._drawn()
            self.frames, self.captions = drawn["frames"], drawn["captions"]

    @property
    def now(self) -> Step:
        """The step that is shown: what each rank holds, and what moves next."""
        return self.steps[self.step]

    def caption(self) -> str:
        return f"Ring all-reduce, step {self.step} of {len(self.steps) - 1}. {self.captions[self.step]}"

    def svg(self, step: int | None = None) -> str:
        """The static figure of ``step``, or of the step that is shown."""
        chosen = self.step if step is None else step
        if not 0 <= chosen < len(self.steps):
            raise UsageError(f"This ring has the steps 0 to {len(self.steps) - 1}, not {chosen}.")
        return self.frames[chosen]


def ring(ranks: int = 4, chunks: int | None = None) -> Ring:
    """The ring all-reduce of ``ranks`` ranks: which chunk is where, how much of the sum is in it, what moves next.

    ``chunks=1`` shows the ring that does not cut its tensor. Raises UsageError for more than 16 ranks.
    """
    return Ring(ranks, chunks)
