"""The errors of a run, each with a remedy. The same classes and messages come from every world.

    LockstepError      base class: a message, and a ``remedy`` that says what to do
      UsageError       the call is invalid
      WorldUnavailable this machine cannot provide what was asked for
      RunError         the run failed; ``states`` of all ranks, ``trace`` until then
        Deadlock       ranks wait for communication that cannot happen
        Mismatch       ranks met in operations that do not fit: kind, size, dtype, reduction, root
        Unmatched      a send without a receive, or a receive without a send
        RankRaised     the function raised on a rank
        RankDied       a rank's process ended
        OutOfMemory    a simulated device ran out of memory
        Race           a strict run: a buffer was used while it was in flight, or nobody waited for it
        Stuck          a rank made no observable progress
        TimeLimit      the run took longer than its timeout

A notebook shows the message only, without a traceback through the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lockstep.events import Trace
from lockstep.places import NOWHERE, Place

# In order: operations that two ranks post individually to each other ("pair"), or a group's collectives and batches
# ("group"); "" where the backend keeps no order.
Queue = Literal["", "pair", "group"]


@dataclass(frozen=True)
class RankState:
    """What one rank was doing when the run ended: its state, its operation, and the line of its program."""

    rank: int
    state: str  # "waiting", "computing", "finished", "raised", "died", "stopped"
    operation: str = ""  # as the learner would write it: "recv(src=2)", "all_reduce on ranks 0, 1, 2"
    where: str = ""  # "Cell In[6], line 4, in ring"
    source: str = ""  # the text of that line
    waits_for: tuple[int, ...] = ()  # ranks whose action would let this one go on
    detail: str = ""  # "exit status 3", "ValueError: bad shape"
    did: str = ""  # if it computes, its last act on the operation: "posted", "polls", "called", "has done"
    any_source: bool = False  # the operation is a receive from any source
    behind: tuple[int, str] | None = None  # a rank, and its operation that must complete first by the backend's rules
    kind: str = ""  # of the operation: "send", "all_reduce"
    queue: Queue = ""  # the queue of the operation, or of what delays it, if the backend executes in order

    def __str__(self) -> str:
        told = {
            "waiting": f"waits in {self.operation}{self._behind()}",
            "computing": f"{self.did} {self.operation}".strip() or "is computing",
            "finished": "has finished",
            "raised": f"raised {self.detail}",
            "died": self.detail,
            "stopped": "is stopped",
        }[self.state]
        place = f" at {self.where}" if self.where else ""
        source = f": {self.source}" if self.source else ""
        return f"rank {self.rank} {told}{place}{source}"

    def _behind(self) -> str:
        if self.behind is None:
            return ""
        rank, operation = self.behind
        return f", behind its {operation}" if rank == self.rank else f", which rank {rank} takes after its {operation}"


@dataclass(frozen=True)
class Exit:
    """How a rank ended without returning. Plain data, since an exception itself may not be picklable.

    ::

        raised         the function raised ``exception`` at ``place``
        exited         the process ended with exit status ``status``
        killed         the process was killed by signal ``status``
        orphaned       the process was killed since the one that had forked it, the fork server, has ended
        silent         the process no longer answers: it was stopped, or has closed its files
        cut            the program has closed the process's control connection, or has written to it
        gone           the process has ended, and only its launcher knows the exit status
        unavailable    the machine lacks resources (``message``): the rank could not start, or its journal has no room
    """

    rank: int
    kind: Literal["raised", "exited", "killed", "orphaned", "silent", "cut", "gone", "unavailable"]
    exception: str = ""  # the type's name
    origin: str = ""  # whose line raised it: "learner", "torch", "lockstep", or "library" for any other
    place: Place = NOWHERE  # the learner's innermost line, also of a script that has called sys.exit
    status: int = 0
    message: str = ""
    told: str = ""  # the traceback, cut to the learner's lines
    when: float = 0.0  # of time.monotonic
    secondary: bool = False  # apparently a consequence of another rank's end
    found: RunError | None = None  # an error of the whole run that this rank has detected
    module: str = ""  # in which the exception's type is defined
    bases: tuple[str, ...] = ()  # the names of the classes that the exception's type inherits from, nearest first
    stated: bool = False  # raised by a raise statement, and not by what the line calls or computes
    mistake: str = ""  # as ``UsageError.mistake``
    shadow: str = ""  # a learner's file that was imported in place of the module that the exception is about
    starved: bool | None = None  # of a kill: whether the kernel has counted one for want of memory; None: unknown

    @property
    def ended(self) -> bool:
        """Whether the process has ended, and not only the function."""
        return self.kind in ("exited", "killed", "orphaned", "silent", "cut", "gone")


class LockstepError(Exception):
    """The base class: ``message`` says what is wrong, ``remedy`` what to do about it."""

    remedy: str = ""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy or self.remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message

    def _render_traceback_(self) -> list[str]:
        """IPython's hook: what a notebook shows instead of a traceback."""
        name = f"{type(self).__name__}: "
        return [f"{name}{str(self).removeprefix(name)}"]


class UsageError(LockstepError, ValueError):
    """The call is invalid: an unknown name, an impossible number of ranks.

    ``mistake``: an identifier for known mistakes, used when an exercise is graded; "" for most."""

    def __init__(self, message: str, remedy: str = "", mistake: str = "") -> None:
        super().__init__(message, remedy)
        self.mistake = mistake


class WorldUnavailable(LockstepError):
    """This machine cannot provide the world that was asked for. Never the learner's fault: a check stays ungraded."""

    remedy = "Run `lockstep doctor`: it says what is missing and how to mend it."


class RunError(LockstepError):
    """The run failed. ``states``: what each rank was doing; ``trace``: all events until then; ``printed``: the output
    until then; ``exit``: the end of the rank that caused the failure, if one did."""

    def __init__(
        self,
        message: str,
        states: Sequence[RankState] = (),
        trace: Trace | None = None,
        remedy: str = "",
        printed: str = "",
        exit: Exit | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.states = tuple(states)
        self.exit = exit
        self.trace = trace
        self.printed = printed

    def __str__(self) -> str:
        lines = [self.message, *(f"  {s}" for s in self.states)]
        return "\n".join([*lines, self.remedy] if self.remedy else lines)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.states, self.trace, self.remedy, self.printed, self.exit)


class Deadlock(RunError):
    """All ranks that have not finished wait for communication that cannot happen."""

    remedy = (
        "Follow the circle: let one of these ranks do the operation that the next one waits for, "
        "or do both at once with isend and irecv."
    )


class Mismatch(RunError):
    """The ranks of a group called different collectives, or the same one with arguments that do not fit."""

    remedy = "Every rank of a group must call the same collectives in the same order, with the same shape and dtype."


class Unmatched(RunError):
    """A message was sent and never received, or a receive was posted that no send matched."""

    remedy = "Give every send a recv with the same peer, tag and group, and wait for what isend and irecv return."


class RankRaised(RunError):
    """The function raised on a rank. The first line of the message is the learner's own exception."""


class RankDied(RunError):
    """A rank's process ended before its function returned: a signal, os._exit, out of memory."""


class OutOfMemory(RunError):
    """A rank of the virtual cluster asked for more bytes than its device has."""


class Race(RunError):
    """A strict run: a program used a buffer while an asynchronous operation had it, or never waited for one."""

    remedy = "Keep what isend, irecv and async_op=True return, and call its wait() before you use the tensor again."


class RaceWarning(UserWarning):
    """The same in a run that is not strict: its result may be right on this world, and wrong on another."""


class Stuck(RunError):
    """A rank made no observable progress for too long: an endless loop, a long sleep."""

    remedy = "Look at the line above: does that loop end on every rank? Does it wait for something that no rank does?"


class TimeLimit(RunError):
    """The run took longer than the time it was given."""

    remedy = "Make the problem smaller, or give it longer with run(..., timeout=seconds)."
