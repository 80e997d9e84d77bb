"""What the board lets in. A report that is none is refused; so is a learner who reports without end, and one more
learner than a class has. Of results that the course does not know nothing is noted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from lockstep.classroom.journal import Journal
from lockstep.classroom.learners import Learners
from lockstep.reports.report import Answers, Refused, Report

MOST_LEARNERS = 1000
COMING_AND_GOING = 10  # times as many learners may have come, and left again
MOST_RESULTS = 5000  # of one learner
FRESH = 1.0  # seconds
AT_ONCE = 40  # reports of one learner; then one a second


class Full(Refused):
    """There are as many learners as this board takes."""


class TooMany(Refused):
    """This learner has reported too often."""


@dataclass
class Allowance:
    """So many reports at once, and one more each second."""

    left: float = AT_ONCE
    since: float = 0.0

    def take(self, now: float) -> bool:
        self.left = min(AT_ONCE, self.left + max(0.0, now - self.since))
        self.since = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Reception:
    """Takes what comes, notes it, and only then counts it."""

    def __init__(
        self, learners: Learners, journal: Journal, most: int = MOST_LEARNERS, clock: Callable[[], float] = time.time
    ) -> None:
        self.learners, self.journal, self.most, self.clock = learners, journal, most, clock
        self._told: tuple[float, str] = (-FRESH, "")
        self._allowances: dict[str, Allowance] = {}

    def report(self, report: Report) -> dict[str, object]:
        """Note a report; up to which number it has been received, and which of its results the course does not know.

        Raises Refused, and OSError where it cannot be noted: then nothing of it has been received."""
        self._let_in(report.learner)
        fresh = self.learners.new(report)
        known = self.learners.by_id.get(report.learner)
        if known and sum(work.tries for work in known.works.values()) + len(fresh) > MOST_RESULTS:
            raise TooMany(f"This learner has sent {MOST_RESULTS} results.")
        if known is None or fresh or known.nickname != report.nickname:
            self.journal.note(report, fresh, self.clock())
        self.learners.take(report, self.clock())
        refused = [r.number for r in report.results if not self.learners.course.knows(r)]
        return {"received": self.learners.by_id[report.learner].number, "refused": refused}

    def answers(self, given: Answers) -> dict[str, object]:
        """Note answers to the inventory: the first ones to each form. Raises Refused for others after them."""
        self._let_in(given.learner)
        known = self.learners.by_id.get(given.learner)
        if known and given.form in known.answers:
            raise Refused("These questions were answered before, and the first answers count.")
        self.journal.note_answers(given, self.clock())
        self.learners.take_answers(given, self.clock())
        return {"received": given.form}

    def leave(self, learner: str) -> dict[str, object]:
        """Forget a learner; nothing happens for one who was never here."""
        if learner in self.learners.by_id:
            self.journal.note_left(learner)
            self.learners.forget(learner)
        return {"left": True}

    def told(self, names: bool) -> str:
        """What the page shows, as JSON, at most a second old: a class that looks at it all at once costs no more."""
        now = self.clock()
        if not 0 <= now - self._told[0] < FRESH:
            self._told = (now, json.dumps(self.learners.told(now, names) | {"at": now}, ensure_ascii=False))
        return self._told[1]

    def _let_in(self, learner: str) -> None:
        new = learner not in self.learners.by_id
        if new and (len(self.learners.by_id) >= self.most or len(self._allowances) >= COMING_AND_GOING * self.most):
            raise Full(f"This board takes {self.most} learners.")
        if not self._allowances.setdefault(learner, Allowance(since=self.clock())).take(self.clock()):
            raise TooMany("This learner reports too often.")
