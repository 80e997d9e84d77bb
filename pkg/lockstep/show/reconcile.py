"""reconcile(): prediction, simulation and measurement side by side, and the reason why they differ."""

from __future__ import annotations

import math
from typing import Any

import traitlets

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.show.comparison import Comparison
from lockstep.show.figure import Figure, script

PROMPT = "Why do they differ? Write down your reason."
AGREED = "They agree. How did you come to your number? Write it down."


class Reconciliation(Figure):
    """The widget: three bars and a text that is kept. See ``reconcile``."""

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
        """Keep ``reason`` beside the prediction, across restarts. Before the prediction there is nothing to explain."""
        if self.comparison is None:
            raise UsageError(self.message)
        progress.give_reason(self.name, reason)
        self.reason, self.message = reason, "Kept."

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("reason"), str):
            self.explain(content["reason"])

    def caption(self) -> str:
        if self.comparison is None:
            return self.message
        return f"{self.comparison.sentence()}{f' Your reason: {self.reason}' if self.reason else ''}"

    def svg(self) -> str:
        return self.comparison.svg(self.reason) if self.comparison else Comparison.closed(self.message)


def reconcile(
    name: str, simulated: float | None = None, measured: float | None = None, reason: str | None = None
) -> Reconciliation:
    """Put what was predicted under ``name`` beside what the simulation and the measurement say, in the same unit.

    Before the prediction is committed it says so and shows nothing, here and in the notebook's file. ``reason`` keeps
    an explanation without a browser. Raises UsageError if a number is not finite.
    """
    check_finite(simulated=simulated, measured=measured)
    shown = Reconciliation(name, simulated, measured)
    if reason is not None and shown.ready:
        shown.explain(reason)
    return shown


def check_finite(**values: float | None) -> None:
    """UsageError if one of them is not None and cannot be drawn."""
    for label, value in values.items():
        if value is not None and not math.isfinite(value):
            raise UsageError(f"{label} is {value}, which cannot be drawn.", "Give a finite number, or None.")
