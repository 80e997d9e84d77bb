"""costs(): what an all-reduce costs by algorithm and size, with sliders for alpha, beta and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from lockstep.show import costs_svg
from lockstep.show.costs_model import NAMES, USUAL, Costs
from lockstep.show.figure import Figure, script

CHOICES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)


class CostCurves(Figure):
    """The widget: set ``alpha``, ``beta`` and ``ranks`` here or in the browser. See ``costs``."""

    _esm = script("costs")
    alpha = traitlets.Float().tag(sync=True)
    beta = traitlets.Float().tag(sync=True)
    ranks = traitlets.Int().tag(sync=True)
    choices = traitlets.List(traitlets.Int()).tag(sync=True)
    drawing = traitlets.Unicode().tag(sync=True)
    curves = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Costs) -> None:
        self.model = model
        choices = sorted({*CHOICES, model.ranks})
        super().__init__(
            alpha=model.alpha, beta=model.beta, ranks=model.ranks, choices=choices, drawing=costs_svg.draw(model),
            curves=_readable(model),
        )  # fmt: skip

    @traitlets.validate("alpha", "beta", "ranks")
    def _possible(self, proposal: Any) -> Any:
        self._with(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @traitlets.observe("alpha", "beta", "ranks")
    def _again(self, change: Any) -> None:
        self.model = self._with(**{change["name"]: change["new"]})
        with self.hold_sync():
            self.drawing, self.curves = costs_svg.draw(self.model), _readable(self.model)

    def _with(self, **changed: Any) -> Costs:
        m = self.model
        return Costs(**{"alpha": m.alpha, "beta": m.beta, "ranks": m.ranks} | changed, low=m.low, high=m.high,
                     algorithms=m.algorithms)  # fmt: skip

    def caption(self) -> str:
        return f"Cost of all-reduce algorithms by message size: {costs_svg.words(self.model)}"

    def svg(self) -> str:
        return costs_svg.draw(self.model)


def costs(
    alpha: float = 1e-5,
    beta: float = 1e-9,
    ranks: int = 16,
    low: float = 1.0,
    high: float = 1e9,
    algorithms: Sequence[str] = USUAL,
) -> CostCurves:
    """Seconds of an all-reduce against bytes, for each of ``algorithms``, with the crossings marked.

    ``alpha`` is seconds a message, ``beta`` seconds a byte; sizes go from ``low`` to ``high`` bytes. Raises UsageError
    for values without sense and for an algorithm that ``lockstep.cost`` does not know.
    """
    return CostCurves(Costs(alpha, beta, ranks, low, high, tuple(algorithms)))


def _readable(model: Costs) -> dict[str, Any]:
    """What the pointer reads: the curves' values, and where on the drawing they are (left, right, top, bottom)."""
    area = [costs_svg.LEFT, costs_svg.RIGHT, costs_svg.TOP, costs_svg.BOTTOM]
    return {"sizes": model.sizes, "curves": {NAMES[a]: model.curve(a) for a in model.drawn}, "area": area}
