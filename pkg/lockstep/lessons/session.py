"""The state of the lesson that this kernel runs: which names are open, and which cells wait.

A name is *open* when it is committed, solved, or shown: a prediction, a your-turn, or ``NAME.reason``. It stays open
across restarts, because the learner's progress says so. A cell that waits runs by itself when its name opens, with its
output under itself: the kernel publishes it as the answer to the message that ran the cell first.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakSet

from IPython import get_ipython
from IPython.display import clear_output

from lockstep import progress
from lockstep.lessons.behind import Behind, load

REASON = ".reason"


class Listener(Protocol):
    """A widget on the page that shows whether a name is open."""

    known_as: str

    def opened(self, how: str) -> None: ...


@dataclass(frozen=True)
class Waiting:
    """A cell that is held back, and the message by which the front end ran it."""

    code: str
    parent: Any


@dataclass
class Session:
    """One lesson in one kernel. Without a topic it is a notebook that is no lesson on the pattern: nothing waits."""

    topic: str = ""
    behind: Behind = field(default_factory=Behind)
    everything: bool = False
    waiting: dict[str, dict[str, Waiting]] = field(default_factory=dict)  # name → cell → what it holds
    lacking: set[str] = field(default_factory=set)  # functions that the author's solution is to replace
    tries: Counter[str] = field(default_factory=Counter)
    listeners: WeakSet[Any] = field(default_factory=WeakSet)

    @property
    def all_open(self) -> bool:
        """``LOCKSTEP_OPEN=all``: for tests and for teachers."""
        return self.everything or os.environ.get("LOCKSTEP_OPEN") == "all"

    def key(self, name: str) -> str:
        """Under which ``name`` is kept in the learner's progress: names are per topic."""
        return f"{self.topic}.{name}" if self.topic else name

    def is_open(self, name: str) -> bool:
        if self.all_open or self.key(name) in progress.opened():
            return True
        prediction = progress.prediction(self.key(name.removesuffix(REASON)))
        return prediction is not None and (not name.endswith(REASON) or bool(prediction.reason.strip()))

    def how(self, name: str) -> str:
        """ "solved" or "shown"; empty if it is not open, or was committed or written."""
        return progress.opened().get(self.key(name), "")

    def hold(self, name: str, cell: str, waiting: Waiting) -> bool:
        """Keep a cell until ``name`` opens. Whether it is the first of those that wait, which says why."""
        held = self.waiting.setdefault(name, {})
        held[cell] = waiting
        return self._in_order(held)[0] == cell

    def open(self, name: str, how: str, then: Callable[[], None] = lambda: None) -> None:
        """``how``: "committed", "written" (which the learner's prediction says itself), "solved" or "shown".

        What waits for ``name`` runs as soon as the kernel is free; ``then`` is called after it.
        """
        names = [name]
        if how == "shown" and name in self.behind.predictions:
            names.append(name + REASON)  # who predicted nothing has no reason to give: ours comes with it
        if how in ("solved", "shown"):
            progress.open_up(*map(self.key, names), how=how)
        if how == "shown" and name in self.behind.turns:
            self.lacking.add(name)
        for listener in [x for x in self.listeners if x.known_as in names]:
            listener.opened(how)
        _soon(lambda: self._catch_up_with(names, then))

    def install(self, name: str) -> None:
        """Define the learner's function in this kernel as the author's solution."""
        self.lacking.discard(name)
        if shell := get_ipython():
            shell.run_cell(self.behind.turns[name].solution, store_history=False, silent=True)

    def catch_up(self, name: str) -> None:
        """Run what waits for ``name``, each under its own cell, in the order of the notebook."""
        if name in self.lacking:
            self.install(name)
        held = self.waiting.pop(name, {})
        failed = False
        for cell in self._in_order(held):
            with _under(held[cell].parent):
                clear_output()  # type: ignore[no-untyped-call]
                if failed:
                    print("This cell did not run, because one above it failed. Run it when that one is mended.")
                else:
                    failed = not get_ipython().run_cell(held[cell].code, store_history=False).success

    def _catch_up_with(self, names: list[str], then: Callable[[], None]) -> None:
        for name in names:
            self.catch_up(name)
        then()

    def _in_order(self, held: dict[str, Waiting]) -> list[str]:
        place = {cell: i for i, cell in enumerate(self.behind.order)}
        return sorted(held, key=lambda cell: place.get(cell, len(place)))


class _under:
    """What is shown inside belongs to the cell that the message ``parent`` ran; the front end sees a busy kernel."""

    def __init__(self, parent: Any) -> None:
        self.parent, self.shell = parent, get_ipython()

    def __enter__(self) -> None:
        self.before = self.shell.get_parent()
        self.shell.set_parent(self.parent)
        self._status("busy")

    def __exit__(self, *raised: Any) -> None:
        self._status("idle")
        self.shell.set_parent(self.before)

    def _status(self, state: str) -> None:
        if publish := getattr(self.shell.kernel, "_publish_status", None):
            publish(state, "shell", parent=self.parent)


def _soon(work: Callable[[], Any]) -> None:
    """In the kernel's main thread, between two cells: a button is heard in another thread, even while a cell runs."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        work()
    else:
        kernel.io_loop.add_callback(work)


_current = Session()


def current() -> Session:
    """The lesson that this kernel runs."""
    return _current


def start(topic: str, everything: bool = False) -> Session:
    """Make ``topic`` the lesson of this kernel. To run its first cell again changes nothing."""
    global _current
    if _current.topic != topic:
        _current = Session(topic, load(topic))
    _current.everything = everything
    return _current
