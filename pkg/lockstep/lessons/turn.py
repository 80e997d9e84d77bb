"""your_turn(): the learner's one to three lines, judged at once, and used by the cells below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets
from IPython import get_ipython

from lockstep.errors import UsageError
from lockstep.lessons.session import Session, current
from lockstep.lessons.turn_judge import Verdict, judge, task
from lockstep.lessons.words import Words, module

TRIES = 3  # then a solution is offered
OFFER = "Show a solution"
ONE_WAY = "One way to write it. It runs below until your own line is right."
SERVES = "You had a solution shown. It runs below until yours is right."
SERVES_SOLVED = "You had solved this. A solution runs below until yours is right."


class Turn(Words):
    """A verdict in words. After some tries it has a button that shows a solution."""

    _esm = module("turn")
    said = traitlets.Unicode().tag(sync=True)
    offer = traitlets.Unicode("").tag(sync=True)
    solution = traitlets.Unicode("").tag(sync=True)

    def __init__(self, session: Session, name: str, said: str, state: str, offered: bool, shown: bool) -> None:
        self.session, self.known_as = session, name
        source = session.behind.turns[name].solution
        super().__init__(said=said, state=state, offer=OFFER if offered else "", solution=source if shown else "")
        session.listeners.add(self)
        self.on_msg(self._hear)

    def opened(self, how: str) -> None:
        if how == "shown":
            with self.hold_sync():
                self.said, self.state, self.offer = ONE_WAY, "told", ""
                self.solution = self.session.behind.turns[self.known_as].solution
            self.keep()

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("show") is True:
            self.session.open(self.known_as, "shown")

    def paragraphs(self) -> list[str]:
        return [self.said, *self.solution.splitlines()]

    def judged(self) -> str:
        return self.said


def your_turn(function: Callable[..., Any]) -> Turn:
    """Judge ``function`` on the lesson's cases, in words. If it is right, what waits for it runs.

    It never raises because of what the function does: a crash and an endless loop are reported. If the learner has
    opened its name before, a solution takes its place until it is right. UsageError for a function that the lesson does
    not ask for.
    """
    session = current()
    name = _name(function, session)
    author = task(name, session.behind.turns[name])
    verdict = judge(function, author)
    if session.all_open and verdict.kind == "unwritten":
        session.install(name)
        verdict = judge(author.right, author)
    elif verdict.kind == "right":
        session.open(name, "solved")
    elif session.is_open(name):
        session.install(name)
        return _served(session, name, verdict)
    session.tries[name] += verdict.kind == "wrong"
    offered = verdict.kind == "wrong" and session.tries[name] >= TRIES
    state = "" if verdict.kind == "unwritten" else verdict.kind
    return Turn(session, name, verdict.said, state, offered, shown=False)


def _served(session: Session, name: str, verdict: Verdict) -> Turn:
    """The learner's lines are not right, and yet what needs them must run: a solution serves, and says so."""
    shown = session.how(name) == "shown"
    said = [] if verdict.kind == "unwritten" else [verdict.said]
    told = " ".join([*said, SERVES if shown else SERVES_SOLVED])
    return Turn(session, name, told, verdict.kind if said else "told", not shown, shown)


def _name(function: Callable[..., Any], session: Session) -> str:
    """The function's own name, or that of the notebook's variable which holds it: a lambda has none."""
    asked = session.behind.turns
    own = getattr(function, "__name__", "")
    space = shell.user_ns if (shell := get_ipython()) else {}
    name = own if own in asked else next((n for n in asked if space.get(n) is function), "")
    if not name or not callable(function):
        raise UsageError(
            f"The lesson asks for no function {own or function!r}.",
            f"Keep the name that the cell gave: {', '.join(asked)}." if asked else "Run the lesson's first cell.",
        )
    return name
