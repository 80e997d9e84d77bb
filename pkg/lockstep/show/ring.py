"""ring(): the ring all-reduce, step by step under a slider, for other numbers of ranks too."""

from __future__ import annotations

from lockstep.show import ring_svg
from lockstep.show.player import Player, Sheet, Slider
from lockstep.show.ring_model import Step, caption, simulate

AHEAD = 8  # ranks that the page's slider goes to


class Ring(Player):
    """``steps`` is the algorithm as data, ``frames`` its drawings, ``captions`` what is said of each. See ``ring``."""

    label = "Ring all-reduce, step by step"

    def __init__(self, ranks: int = 4, chunks: int | None = None) -> None:
        self.ranks, self.is_whole = ranks, chunks == 1 and ranks > 1
        self.steps = simulate(ranks, chunks)
        sheet = _sheet(self.steps)
        super().__init__(sheet.frames, sheet.captions)

    def sliders(self) -> tuple[Slider, ...]:
        choices = self._choices()
        return (Slider("ranks", [str(k) for k in choices], choices.index(self.ranks)),)

    def sheets(self) -> list[Sheet]:
        return [_sheet(simulate(k, 1 if self.is_whole else None)) for k in self._choices()]

    def _choices(self) -> list[int]:
        return sorted({*range(1, AHEAD + 1), self.ranks})

    def caption(self) -> str:
        return f"Ring all-reduce, step {self.step} of {len(self.steps) - 1}. {self.captions[self.step]}"


def ring(ranks: int = 4, chunks: int | None = None) -> Ring:
    """The ring all-reduce of ``ranks`` ranks: which chunk is where, how much of the sum is in it, what moves next.

    ``chunks=1`` shows the ring that does not cut its tensor. Raises UsageError for more than 16 ranks.
    """
    return Ring(ranks, chunks)


def _sheet(steps: tuple[Step, ...]) -> Sheet:
    frames = [ring_svg.draw(step, len(steps)) for step in steps]
    return Sheet(frames, [" ".join(caption(step, len(steps))) for step in steps])
