"""What was seen of a learner's function, as plain data: numbers, text, tensors, a Trace. No code, no pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.checks.argument_changes import Change
from lockstep.checks.case import Case
from lockstep.checks.guard import LibraryAnswer, NotWritten
from lockstep.errors import RankState
from lockstep.events import Trace

NOT_WRITTEN = f"{NotWritten.__module__}.{NotWritten.__qualname__}"
LIBRARY_ANSWER = f"{LibraryAnswer.__module__}.{LibraryAnswer.__qualname__}"


@dataclass(frozen=True)
class Failure:
    """How a run ended that did not end well: an error of `lockstep.errors` as facts, by which it is judged, and as the
    sentences for the learner (``message``, ``states`` and ``remedy``). Nobody looks for words in these."""

    kind: str  # "Deadlock", "RankRaised" ...
    message: str
    states: tuple[RankState, ...] = ()
    remedy: str = ""
    exception: str = ""  # what was raised: "ValueError", or with its module, "lockstep.errors.UsageError"
    bases: tuple[str, ...] = ()  # the names of the classes that its type inherits from, nearest first
    text: str = ""  # the exception's own
    told: str = ""  # the learner's lines of its traceback, and what Python says of it
    origin: str = ""  # whose line raised it: "learner", "torch", "lockstep" or "library"; "" if nobody raised
    stated: bool = False  # by a raise statement
    ended: str = ""  # how its process ended, if it did: "was killed by SIGSEGV: segmentation fault"
    where: str = ""  # the learner's line: "ring.py, line 4, in ring"
    source: str = ""  # the text of that line
    limit: float = 0.0  # seconds that the run was given
    paced: bool = False  # whether its sentences say how that time went

    def __str__(self) -> str:
        return "\n".join([self.message, *map(str, self.states)])

    @property
    def not_written(self) -> bool:
        """The learner's own code says so. An abstract method of torch raises the same, and so does any library."""
        own = self.exception == "NotImplementedError" and self.origin == "learner" and self.stated
        return own or self.exception == NOT_WRITTEN

    @property
    def library_answer(self) -> bool:
        """The function called what it was asked to write."""
        return self.exception == LIBRARY_ANSWER

    @property
    def raised(self) -> str:
        """The exception as Python prints it: its type, its text, and the lines that led to it."""
        return f"{self.exception}: {self.text}\n{self.told}" if self.exception else ""


@dataclass(frozen=True)
class Seen:
    """One case, as it went. Lists are by global rank; ranks outside the group have None."""

    case: Case
    returned: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()  # each a list: the arguments as they were when the function had returned
    memory: tuple[Mapping[str, int], ...] = ()  # "peak": bytes besides its arguments; and all then alive, by kind
    trace: Trace = field(default_factory=Trace)
    printed: str = ""
    failure: Failure | None = None
    changes: tuple[tuple[Change, ...], ...] = ()  # to the arguments: by rank; of a pure exercise, by call


@dataclass(frozen=True)
class Observation:
    """Everything a judge gets."""

    exercise: str
    world: str  # "virtual", "processes", "spmd"
    signature: str = ""  # why the function cannot be called as published; empty if it can
    problem: str = ""  # why it could not be loaded at all
    seen: tuple[Seen, ...] = ()
    unseen: tuple[Case, ...] = ()  # cases left out after the function hung, or had used up its time

    def __iter__(self) -> Iterator[Seen]:
        return iter(self.seen)

    def failure_with(self, case: Case | None) -> Failure | None:
        """How the run of ``case`` failed, if it did."""
        return next((seen.failure for seen in self.seen if seen.case == case), None)
