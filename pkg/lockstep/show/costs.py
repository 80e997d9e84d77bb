"""costs(): what an all-reduce costs by algorithm and size, with sliders for alpha, beta and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from lockstep.show import costs_svg, quantities
from lockstep.show.costs_model import NAMES, USUAL, Costs
from lockstep.show.figure import script
from lockstep.show.player import Player, Sheet, Slider

ALPHAS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)  # seconds a message
BANDWIDTHS = (1e7, 1e8, 1e9, 1e10, 1e11, 1e12)  # bytes a second
RANKS = (2, 4, 8, 12, 16, 64, 256, 1024)


class CostCurves(Player):
    """Every alpha, bandwidth and number of ranks that its sliders stop at is drawn ahead. See ``costs``."""

    module = script("player", "costs")
    label = "Cost of all-reduce algorithms"

    def __init__(self, model: Costs) -> None:
        self.model = model
        super().__init__([costs_svg.draw(model)], [costs_svg.words(model)])

    def sliders(self) -> tuple[Slider, Slider, Slider]:
        alphas, betas, ranks = self._choices()
        m = self.model
        return (
            Slider("α", [quantities.seconds(a) for a in alphas], alphas.index(m.alpha)),
            Slider("1/β", [f"{quantities.nbytes(1 / b)}/s" for b in betas], betas.index(m.beta)),
            Slider("ranks", [f"{k:,}" for k in ranks], ranks.index(m.ranks)),
        )

    def sheets(self) -> list[Sheet]:
        models = [replace(self.model, alpha=a, beta=b, ranks=k) for a, b, k in product(*self._choices())]
        return [Sheet([costs_svg.draw(m)], [costs_svg.words(m)]) for m in models]

    def _choices(self) -> tuple[list[float], list[float], list[int]]:
        m = self.model
        betas = sorted({*(1 / b for b in BANDWIDTHS), m.beta}, reverse=True)
        return sorted({*ALPHAS, m.alpha}), betas, sorted({*RANKS, m.ranks})

    def state(self) -> dict[str, Any]:
        area = [costs_svg.LEFT, costs_svg.RIGHT, costs_svg.TOP, costs_svg.BOTTOM]
        linear = {k: _linear(replace(self.model, alpha=1.0, beta=1.0, ranks=k)) for k in self._choices()[2]}
        reading = {"sizes": self.model.sizes, "area": area, "linear": linear}
        return super().state() | {"values": self._choices(), "reading": reading}

    def caption(self) -> str:
        return f"Cost of all-reduce algorithms by message size: {costs_svg.words(self.model)}"


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


def _linear(model: Costs) -> dict[str, tuple[float, float]]:
    """What an algorithm's time is made of: so many alphas, and so many betas for each byte."""
    found = {}
    for algorithm in model.drawn:
        fixed = model.seconds(algorithm, 0.0)
        found[NAMES[algorithm]] = (fixed, model.seconds(algorithm, 1e9) / 1e9 - fixed / 1e9)
    return found
