"""predict() and reconcile(): a number that the learner commits to; later, what was simulated and measured next to it.

In a lesson, committing to a number opens the cells that wait for it, and writing the reason opens the course's own. In
any other notebook nothing waits. The widgets are in ``show/prediction_field.py`` and ``show/reconciliation.py``.
"""

from __future__ import annotations

import math

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.lessons.behind import Question
from lockstep.lessons.session import REASON, Session, current
from lockstep.show.prediction_field import PredictionField
from lockstep.show.reconciliation import Reconciliation

SHOWN = "You had this shown without a prediction."


class LessonPrediction(PredictionField):
    """The field. Once committed, what waits for it runs, and the field says when that is done."""

    def __init__(self, session: Session, name: str, question: str, unit: str) -> None:
        self.session, self.known_as = session, name
        super().__init__(session.key(name), question, unit)
        session.listeners.add(self)
        if not self.locked and session.key(name) in progress.opened():
            self.opened("shown")

    def opened(self, how: str) -> None:
        """The answer is on the page without a prediction: from now on a number would be no prediction."""
        if how == "shown" and not self.locked:
            self.message, self.refused, self.locked = SHOWN, False, True
            self.keep()

    def commit(self, given: str | float) -> None:
        """Lock ``given``, but not once the answer has been shown."""
        if not self.locked or self.shown:
            super().commit(given)

    def _committed(self, outcome: progress.Commitment) -> None:
        waits = bool(self.session.waiting.get(self.known_as))
        super()._committed(outcome)
        if waits:
            self.message = f"{outcome} What waited for it runs now."
        self.session.open(self.known_as, "committed", then=lambda: self._have_run(outcome) if waits else None)

    def _have_run(self, outcome: progress.Commitment) -> None:
        self.message = f"{outcome} What waited for it stands below. Is nothing there? Then run it again."

    def _how(self) -> str:
        return f"without a browser: predict({self.known_as!r}, ..., value=...)"


class LessonReconciliation(Reconciliation):
    """Three bars and a field for the reason; two bars without a field where the learner had it shown."""

    def __init__(self, session: Session, name: str, simulated: float | None, measured: float | None) -> None:
        self.session, self.known_as = session, name
        asked = session.behind.predictions.get(name, Question("")) if session.is_open(name) else None
        super().__init__(session.key(name), simulated, measured, *((asked.question, asked.unit) if asked else ()))

    def explain(self, reason: str) -> None:
        super().explain(reason)
        if reason.strip():
            self.session.open(self.known_as + REASON, "written")


def predict(name: str, question: str, unit: str = "", value: str | float | None = None) -> PredictionField:
    """Ask for a number under ``name``. Once committed it is locked for ever, on this machine and across restarts.

    What waits for ``name`` then runs by itself. With ``value`` it commits at once, without a browser.
    ``lockstep.progress.forget_prediction(name)`` starts over. Raises UsageError for a ``value`` that is no number.
    """
    if not name or not question:
        raise UsageError("A prediction needs a name and a question.", 'Write predict("ring-64", "How many ms?").')
    field = LessonPrediction(current(), name, question, unit)
    if value is not None:
        field.commit(value)
        if field.refused:
            raise UsageError(field.message)
    return field


def reconcile(
    name: str, simulated: float | None = None, measured: float | None = None, reason: str | None = None
) -> Reconciliation:
    """Compare what was predicted under ``name`` with what was simulated and measured, in the same unit.

    Before the prediction is committed it says so and shows nothing, here and in the notebook's file. ``reason`` keeps
    an explanation without a browser. Raises UsageError if a number is not finite.
    """
    for label, number in (("simulated", simulated), ("measured", measured)):
        if number is not None and not math.isfinite(number):
            raise UsageError(f"{label} is {number}, which cannot be drawn.", "Give a finite number, or None.")
    progress.record_outcome(current().key(name), progress.Outcome(simulated, measured))
    shown = LessonReconciliation(current(), name, simulated, measured)
    if reason is not None and shown.ready and shown.asks:
        shown.explain(reason)
    return shown
