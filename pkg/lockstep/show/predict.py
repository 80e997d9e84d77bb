"""predict(): a number that you commit to before anything is shown, and cannot change afterwards."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

import traitlets

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.show import palette, svg
from lockstep.show.figure import Figure, script

ACCEPTED = "Write one number, such as 12, 0.5, 2,5 or 1e-3"
WIDTH, LINE, CHARACTERS = 540, 19, 60  # of the static figure: its width, pixels to the next line, the longest line
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")


class PredictionField(Figure):
    """The widget: a field and a button, locked once committed. See ``predict``."""

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
        told = f"Your prediction: {self.shown} {self.unit}".rstrip() if self.shown else "No prediction is committed."
        lines = textwrap.wrap(self.question, CHARACTERS)
        top = LINE * (len(lines) - 1)
        body = [
            *(svg.text(20, 28 + LINE * number, line, 13, font_weight=600) for number, line in enumerate(lines)),
            svg.element("rect", x=20, y=top + 42, width=300, height=28, rx=4, fill=palette.LANE, stroke=palette.FAINT),
            svg.text(32, top + 61, told, 13),
        ]
        return svg.document(WIDTH, top + 86, self.question, told, body)


def predict(name: str, question: str, unit: str = "", value: str | float | None = None) -> PredictionField:
    """Ask for a number under ``name``. Once committed it is locked for ever, on this machine and across restarts.

    With ``value`` it commits at once, without a browser. ``lockstep.progress.forget_prediction(name)`` starts over.
    Raises UsageError for a ``value`` that is no number.
    """
    check_question(name, question)
    return commit_at_once(PredictionField(name, question, unit), value)


def check_question(name: str, question: str) -> None:
    if not name or not question:
        raise UsageError("A prediction needs a name and a question.", 'Write predict("ring-64", "How many ms?").')


def commit_at_once(field: PredictionField, value: str | float | None) -> PredictionField:
    """Commit ``value`` without a browser, if it is not None. UsageError if it cannot be a prediction."""
    if value is not None:
        field.commit(value)
        if field.refused:
            raise UsageError(field.message)
    return field


def parse(text: str, unit: str = "") -> float:
    """``12``, ``0.5``, ``2,5`` (a decimal comma) or ``1e-3``, with ``unit`` behind it or not. UsageError otherwise."""
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
