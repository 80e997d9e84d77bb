"""amdahl(): what more workers buy, with sliders for the parallel fraction and the workers, and your own points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from lockstep.show import amdahl_svg
from lockstep.show.amdahl_model import SHARES, WORKERS, Speedups, nearest, speedups_of
from lockstep.show.figure import Figure, script


class SpeedupCurves(Figure):
    """The widget: set ``p`` and ``workers`` here or in the browser. See ``amdahl``."""

    _esm = script("amdahl")
    p = traitlets.Float().tag(sync=True)
    workers = traitlets.Int().tag(sync=True)
    shares = traitlets.List(traitlets.Float()).tag(sync=True)
    choices = traitlets.List(traitlets.Int()).tag(sync=True)
    drawing = traitlets.Unicode().tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)

    def __init__(self, model: Speedups) -> None:
        self.model = model
        super().__init__(
            p=model.p, workers=model.workers, shares=nearest(SHARES, model.p),
            choices=[int(s) for s in nearest(WORKERS, model.workers)], drawing=amdahl_svg.draw(model),
            told=amdahl_svg.words(model),
        )  # fmt: skip

    @traitlets.validate("p", "workers")
    def _possible(self, proposal: Any) -> Any:
        self._with(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @traitlets.observe("p", "workers")
    def _again(self, change: Any) -> None:
        self.model = self._with(**{change["name"]: change["new"]})
        with self.hold_sync():
            self.drawing, self.told = amdahl_svg.draw(self.model), amdahl_svg.words(self.model)

    def _with(self, **changed: Any) -> Speedups:
        m = self.model
        return Speedups(**{"p": m.p, "workers": m.workers} | changed, points=m.points, points_are=m.points_are)

    def caption(self) -> str:
        return amdahl_svg.words(self.model)

    def svg(self) -> str:
        return amdahl_svg.draw(self.model)


def amdahl(
    p: float = 0.95, workers: int = 16, times: Mapping[int, float] | None = None, points_are: str = "measured"
) -> SpeedupCurves:
    """Speedup against workers by the laws of Amdahl and Gustafson, and what each worker does meanwhile.

    ``times`` are your own measurements, ``{workers: seconds}`` with an entry for 1 worker; they are drawn as points,
    named ``points_are``. Raises UsageError for values without sense.
    """
    return SpeedupCurves(Speedups(p, workers, speedups_of(times or {}), points_are))
