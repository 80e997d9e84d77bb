"""The field for a prediction: a number that the learner commits to before anything is shown, and cannot change later.

``lockstep.predict`` (``lessons/predictions.py``) makes one.
"""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

import traitlets

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.figure import script
from lockstep.show.widget import Figure

ACCEPTED = "Write one number, such as 12, 0.5, 2,5 or 1e-3"
WIDTH, LINE, CHARACTERS = 540, 19, 60  # of the static figure: its width, pixels to the next line, the longest line
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


class PredictionField(Figure):
    """The widget: a field and a button, locked once committed."""

    _esm = script("predict")
    question = traitlets.Unicode().tag(sync=True)
    unit = traitlets.Unicode().tag(sync=True)
    locked = traitlets.Bool(False).tag(sync=True)
    shown = traitlets.Unicode("").tag(sync=True)
    message = traitlets.Unicode("").tag(sync=True)
    refused = traitlets.Bool(False).tag(sync=True)

    def __init__(self, name: str, question: str, unit: str = "") -> None:
        self.name = name
        super().__init__(question=question, unit=unit)
        before = progress.prediction(name)
        if before is not None:
            self._lock(before, f"You committed this on {before.when[:10]}. It stays.")
        self.on_msg(self._hear)

    @property
    def value(self) -> float | None:
        """The committed number, or None."""
        committed = progress.prediction(self.name)
        return committed.value if committed else None

    def commit(self, given: str | float) -> None:
        """What the button does: lock ``given``, or say in one sentence why it cannot be a prediction."""
        try:
            value = parse(given, self.unit) if isinstance(given, str) else float(given)
            outcome = progress.lock_prediction(self.name, value, self.unit, self.question)
        except UsageError as error:
            self.message, self.refused = error.message, True
            return
        self._committed(outcome)
        self.keep()

    def _committed(self, outcome: progress.Commitment) -> None:
        self._lock(outcome.prediction, str(outcome))

    def _lock(self, prediction: progress.Prediction, message: str) -> None:
        with self.hold_sync():
            self.shown = f"{prediction.value:.12g}"
            self.message, self.refused, self.locked = message, False, True

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("commit"), str):
            self.commit(content["commit"])

    def caption(self) -> str:
        if self.shown:
            return f"{self.question} Your prediction: {self.shown} {self.unit}".rstrip()
        return f"{self.question} (no prediction yet; {self._how()})"

    def _how(self) -> str:
        return f"without a browser: predict({self.name!r}, ..., value=...)"

    def svg(self) -> str:
        nothing = self.message if self.locked else "No prediction is committed."
        told = f"Your prediction: {self.shown} {self.unit}".rstrip() if self.shown else nothing
        lines = textwrap.wrap(self.question, CHARACTERS)
        top = LINE * (len(lines) - 1)
        body = [
            *(svg.text(20, 28 + LINE * number, line, 13, font_weight=600) for number, line in enumerate(lines)),
            svg.element("rect", x=20, y=top + 42, width=300, height=28, rx=4, fill=palette.LANE, stroke=palette.FAINT),
            svg.text(32, top + 61, told, 13),
        ]
        return svg.document(WIDTH, top + 86, self.question, told, body)


def parse(text: str, unit: str = "") -> float:
    """``12``, ``0.5``, ``2,5`` (a decimal comma) or ``1e-3``, with or without ``unit`` after it. Else UsageError."""
    words = text.strip().removesuffix(unit).strip().replace("−", "-")
    if not words:
        raise UsageError("There is no number in the field yet.", f"{ACCEPTED}.")
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", words):
        plain = words.replace(",", "")
        raise UsageError(f"“{words}” can be read in two ways: write {plain}, or {words.replace(',', '.', 1)}.")
    if not _NUMBER.fullmatch(words):
        raise UsageError(f"“{text.strip()[:40]}” is not a number. {ACCEPTED}{f', in {unit}' if unit else ''}.")
    value = float(words.replace(",", "."))
    if not math.isfinite(value):
        raise UsageError(f"“{words}” is too large. {ACCEPTED}.")
    return value
