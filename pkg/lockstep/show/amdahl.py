"""amdahl(): what more workers buy, with sliders for the parallel fraction and the workers, and your own points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from lockstep.show import amdahl_svg
from lockstep.show.amdahl_model import SHARES, WORKERS, Speedups, nearest, speedups_of
from lockstep.show.player import Player, Sheet, Slider


class SpeedupCurves(Player):
    """Every share and number of workers that its sliders stop at is drawn ahead. See ``amdahl``."""

    label = "Speedup by Amdahl's and Gustafson's laws"

    def __init__(self, model: Speedups) -> None:
        self.model = model
        super().__init__([amdahl_svg.draw(model)], [amdahl_svg.words(model)])

    def sliders(self) -> tuple[Slider, Slider]:
        shares, workers = self._choices()
        return (
            Slider("parallel fraction p", [f"{p:.6g}" for p in shares], shares.index(self.model.p)),
            Slider("workers s", [f"{s:,.0f}" for s in workers], workers.index(self.model.workers)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, p=p, workers=int(s)) for p, s in product(*self._choices())]
        return [Sheet([amdahl_svg.draw(m)], [amdahl_svg.words(m)]) for m in models]

    def _choices(self) -> tuple[list[float], list[float]]:
        return nearest(SHARES, self.model.p), nearest(WORKERS, self.model.workers)

    def caption(self) -> str:
        return amdahl_svg.words(self.model)


def amdahl(
    p: float = 0.95, workers: int = 16, times: Mapping[int, float] | None = None, points_are: str = "measured"
) -> SpeedupCurves:
    """Speedup against workers by the laws of Amdahl and Gustafson, and what each worker does meanwhile.

    ``times`` are your own measurements, ``{workers: seconds}`` with an entry for 1 worker; they are drawn as points,
    named ``points_are``. Raises UsageError for values without sense.
    """
    return SpeedupCurves(Speedups(p, workers, speedups_of(times or {}), points_are))
