"""predict() and reconcile() of a lesson: as everywhere, and they open what waits for them."""

from __future__ import annotations

from lockstep import progress
from lockstep.lessons.behind import Question
from lockstep.lessons.session import REASON, Session, current
from lockstep.show.predict import PredictionField, check_question, commit_at_once
from lockstep.show.reconcile import Reconciliation, check_finite

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

    def commit(self, given: str | float) -> None:
        """As everywhere, but not once the answer has been shown."""
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
    check_question(name, question)
    return commit_at_once(LessonPrediction(current(), name, question, unit), value)


def reconcile(
    name: str, simulated: float | None = None, measured: float | None = None, reason: str | None = None
) -> Reconciliation:
    """Put what was predicted under ``name`` beside what the simulation and the measurement say, in the same unit.

    Before the prediction is committed it says so and shows nothing, here and in the notebook's file. ``reason`` keeps
    an explanation without a browser. Raises UsageError if a number is not finite.
    """
    check_finite(simulated=simulated, measured=measured)
    shown = LessonReconciliation(current(), name, simulated, measured)
    if reason is not None and shown.ready and shown.asks:
        shown.explain(reason)
    return shown
