"""The reconciliation of a prediction: predicted, simulated and measured side by side, and the reason why they differ.

    Comparison        the model and its drawing: up to three numbers of one unit, and their ratios
    Reconciliation    the widget: the drawing, and a field for the reason, which is kept

``lockstep.reconcile`` (``lessons/predictions.py``) makes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import traitlets

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.figure import script
from lockstep.show.side_by_side import Row, SideBySide
from lockstep.show.widget import Figure

WIDTH, TOP = svg.WIDTH, 54.0
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
        return self.are_positive and max(self.values.values()) <= 1.05 * min(self.values.values())

    @property
    def are_positive(self) -> bool:
        return min(self.values.values(), default=0.0) > 0

    def ratios(self) -> list[str]:
        """``measured is 2.5 × predicted`` for each pair: the larger is so many times the smaller."""
        pairs = combinations(self.values.items(), 2)
        return [_ratio(a, x, b, y) for (a, x), (b, y) in pairs] if self.are_positive else []

    def sentence(self) -> str:
        told = ", ".join(f"{name} {_quantity(value, self.unit)}" for name, value in self.values.items())
        ratios = "; ".join(self.ratios())
        return f"{self.question} {told}.{f' {ratios}.' if ratios else ''}"

    @cached_property
    def marks(self) -> SideBySide:
        """Bars from zero, or dots on a logarithmic axis."""
        below = TOP + 18 * (len(self._heading) - 1)
        rows = [Row(n, v, _quantity(v, self.unit), palette.ROLES[n]) for n, v in self.values.items()]
        return SideBySide(rows, self.unit, below)

    @cached_property
    def _heading(self) -> list[str]:
        return svg.heading(14, 28, self.question, 13)

    def svg(self, reason: str = "") -> str:
        told = self.ratios() + (svg.wrapped(f"Your reason: {reason}", WIDTH - 28)[:REASON] if reason else [])
        lower = self.marks.bottom + 26
        body = [
            *self._heading,
            *self.marks.drawn(),
            *(svg.faint(14, lower + 18 * i, one) for i, one in enumerate(told)),
        ]
        height = lower + 18 * len(told) - 6
        return svg.document(WIDTH, height, f"Predicted, simulated, measured: {self.question}", self.sentence(), body)

    @staticmethod
    def closed(message: str) -> str:
        """The figure before the prediction: the message and nothing else."""
        lines = svg.wrapped(message, WIDTH - 28, 13)
        body = [svg.text(14, 32 + 18 * i, line, 13, font_weight=600) for i, line in enumerate(lines)]
        return svg.document(WIDTH, 36 + 18 * len(lines), message, message, body)


def _ratio(a: str, x: float, b: str, y: float) -> str:
    """A ratio that would be written as 1.00 is shown as an equality."""
    if x < y:
        a, x, b, y = b, y, a, x
    return f"{a} = {b}" if x / y < 1.005 else f"{a} is {x / y:.3g} × {b}"


def _quantity(value: float, unit: str) -> str:
    return f"{value:,.4g} {unit}".rstrip() if abs(value) < 1e4 or abs(value) >= 1e9 else f"{value:,.0f} {unit}".rstrip()


PROMPT = "Why do they differ? Write down your reason."
AGREED = "They agree. How did you come to your number? Write it down."


class Reconciliation(Figure):
    """The widget: three values and a text that is kept."""

    _esm = script("reconcile")
    ready = traitlets.Bool(False).tag(sync=True)
    drawing = traitlets.Unicode("").tag(sync=True)
    prompt = traitlets.Unicode(PROMPT).tag(sync=True)
    reason = traitlets.Unicode("").tag(sync=True)
    message = traitlets.Unicode("").tag(sync=True)

    asks = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self, name: str, simulated: float | None, measured: float | None, question: str | None = None, unit: str = ""
    ) -> None:
        """With a ``question`` the numbers are shown even where nothing was predicted, and no reason is asked for."""
        self.name = name
        self.comparison: Comparison | None = None
        committed = progress.prediction(name)
        if committed is None and question is not None:
            self.comparison = Comparison(question, unit, None, simulated, measured)
            super().__init__(ready=True, asks=False, drawing=self.comparison.svg())
            return
        if committed is None:
            first = f"Commit your prediction first: “{name}”. Then run this cell again."
            super().__init__(message=first)
            return
        self.comparison = Comparison(committed.question, committed.unit, committed.value, simulated, measured)
        prompt = AGREED if self.comparison.agrees else PROMPT
        super().__init__(ready=True, drawing=self.comparison.svg(), reason=committed.reason, prompt=prompt)
        self.on_msg(self._hear)

    def explain(self, reason: str) -> None:
        """Keep ``reason`` with the prediction, across restarts. Before the prediction there is nothing to explain."""
        if self.comparison is None:
            raise UsageError(self.message)
        progress.give_reason(self.name, reason)
        self.reason, self.message = reason, "Kept."
        self.keep()

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("reason"), str):
            self.explain(content["reason"])

    def caption(self) -> str:
        if self.comparison is None:
            return self.message
        return f"{self.comparison.sentence()}{f' Your reason: {self.reason}' if self.reason else ''}"

    def svg(self) -> str:
        return self.comparison.svg(self.reason) if self.comparison else Comparison.closed(self.message)
