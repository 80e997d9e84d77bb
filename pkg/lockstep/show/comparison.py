"""The plain model of a reconciliation: up to three numbers of one unit, their ratios, and their bars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from lockstep.show import svg

COLOURS = {"predicted": "#D55E00", "simulated": "#0072B2", "measured": "#009E73"}
WIDTH, LEFT, RIGHT, TOP, PITCH = svg.WIDTH, 92.0, 420.0, 58.0, 34.0
REASON = 6  # lines of it


@dataclass(frozen=True)
class Comparison:
    """Values in ``unit``; None for what there is not."""

    question: str
    unit: str
    predicted: float | None
    simulated: float | None = None
    measured: float | None = None

    @property
    def values(self) -> dict[str, float]:
        found = {"predicted": self.predicted, "simulated": self.simulated, "measured": self.measured}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def agrees(self) -> bool:
        """Whether no two of the values are more than a twentieth apart."""
        return self.is_logarithmic and max(self.values.values()) <= 1.05 * min(self.values.values())

    @property
    def is_logarithmic(self) -> bool:
        return min(self.values.values(), default=0.0) > 0

    def ratios(self) -> list[str]:
        """``measured is 2.5 × predicted`` for each pair: the larger is so many times the smaller."""
        pairs = combinations(self.values.items(), 2)
        return [_ratio(a, x, b, y) for (a, x), (b, y) in pairs] if self.is_logarithmic else []

    def sentence(self) -> str:
        told = ", ".join(f"{name} {_quantity(value, self.unit)}" for name, value in self.values.items())
        ratios = "; ".join(self.ratios())
        return f"{self.question} {told}.{f' {ratios}.' if ratios else ''}"

    def lengths(self) -> dict[str, float]:
        """The bars' lengths from 0 to 1: by logarithm from a third of the smallest, or in proportion if one is ≤ 0."""
        values = self.values
        if not self.is_logarithmic:
            most = max((abs(v) for v in values.values()), default=0.0) or 1.0
            return {name: max(0.0, v / most) for name, v in values.items()}
        logs = {name: math.log10(v) for name, v in values.items()}
        low = min(logs.values()) - math.log10(3)
        return {name: (v - low) / (max(logs.values()) - low) for name, v in logs.items()}

    def svg(self, reason: str = "") -> str:
        rows, ratios = len(self.values), self.ratios()
        heading = svg.wrapped(self.question, WIDTH - 28, 13)
        top = TOP + 18 * (len(heading) - 1)
        lower = top + PITCH * rows + 8
        body = [svg.text(14, 28 + 18 * i, words, 13, font_weight=600) for i, words in enumerate(heading)]
        body += self._bars(top)
        scale = "Bars are logarithmic." if self.is_logarithmic and rows > 1 else ""
        below = [*ratios, scale] if scale else ratios
        below += svg.wrapped(f"Your reason: {reason}", WIDTH - 28)[:REASON] if reason else []
        body += [svg.faint(14, lower + 8 + 18 * i, told) for i, told in enumerate(below)]
        height = lower + 6 + 18 * max(1, len(below))
        return svg.document(WIDTH, height, f"Predicted, simulated, measured: {self.question}", self.sentence(), body)

    def _bars(self, top: float) -> Iterator[str]:
        lengths = self.lengths()
        for i, (name, value) in enumerate(self.values.items()):
            y, width = top + PITCH * i, (RIGHT - LEFT) * lengths[name]
            yield svg.text(LEFT - 10, y + 13, name, text_anchor="end")
            yield svg.element(
                "rect", svg.title(f"{name}: {_quantity(value, self.unit)}"), x=LEFT, y=y - 4, width=max(2.0, width),
                height=24, rx=3, fill=COLOURS[name],
            )  # fmt: skip
            yield svg.text(LEFT + width + 10, y + 13, _quantity(value, self.unit), 13, font_weight=600)

    @staticmethod
    def closed(message: str) -> str:
        """The figure before the prediction: the message and nothing else."""
        lines = svg.wrapped(message, WIDTH - 28, 13)
        body = [svg.text(14, 32 + 18 * i, line, 13, font_weight=600) for i, line in enumerate(lines)]
        return svg.document(WIDTH, 36 + 18 * len(lines), message, message, body)


def _ratio(a: str, x: float, b: str, y: float) -> str:
    """A ratio that would be written as 1.00 is told as equality."""
    if x < y:
        a, x, b, y = b, y, a, x
    return f"{a} = {b}" if x / y < 1.005 else f"{a} is {x / y:.3g} × {b}"


def _quantity(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".rstrip() if abs(value) < 1e4 or abs(value) >= 1e9 else f"{value:,.0f} {unit}".rstrip()
