"""Everything that can go wrong in a run, by name, each with its remedy.

The same names and the same sentences come from the virtual cluster, from processes and from GPU nodes. A learner sees
the message alone: IPython is told not to draw the library's own frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lockstep.events import Trace
from lockstep.places import NOWHERE, Place

# Of what two ranks post singly to each other, or of a group's collectives and batches; "" where there is no order.
Queue = Literal["", "pair", "group"]


@dataclass(frozen=True)
class RankState:
    """Where one rank stood when the run ended."""

    rank: int
    state: str  # "waiting", "computing", "finished", "raised", "died"
    operation: str = ""  # as the learner would write it: "recv(src=2)", "all_reduce on ranks 0, 1, 2"
    where: str = ""  # "Cell In[6], line 4, in ring"
    source: str = ""  # the text of that line
    waits_for: tuple[int, ...] = ()  # ranks whose action would let this one go on
    detail: str = ""  # "exit status 3", "ValueError: bad shape"
    did: str = ""  # of a rank that computes: what it did with the operation: "posted", "polls", "called", "has done"
    any_source: bool = False  # the operation is a receive from any source
    behind: tuple[int, str] | None = None  # a rank, and its operation that must be over first by the backend's rules
    kind: str = ""  # of the operation: "send", "all_reduce"
    queue: Queue = ""  # in which the backend carries out the operation, or what holds it up, if it does so in order

    def __str__(self) -> str:
        told = {
            "waiting": f"waits in {self.operation}{self._behind()}",
            "computing": f"{self.did} {self.operation}".strip() or "is computing",
            "finished": "has finished",
            "raised": f"raised {self.detail}",
            "died": self.detail,
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
    """How a rank ended that did not return. Plain data: an exception itself may not be able to travel.

    ::

        raised         the function raised ``exception`` at ``place``
        exited         the process ended with ``status``
        killed         the signal ``status`` ended it
        silent         it does not answer any more: stopped, or it has closed its files
        cut            the program has closed, or written to, the connection over which its process tells of itself
        gone           it has ended, and its status is known to its launcher alone
        unavailable    the machine cannot carry it (``message``): it could not begin, or its journal has no room
    """

    rank: int
    kind: Literal["raised", "exited", "killed", "silent", "cut", "gone", "unavailable"]
    exception: str = ""  # the type's name
    origin: str = ""  # whose line raised it: "learner", "torch", "lockstep", or "library" for any other
    place: Place = NOWHERE  # the learner's innermost line
    status: int = 0
    message: str = ""
    told: str = ""  # the learner's traceback
    when: float = 0.0  # of time.monotonic
    secondary: bool = False  # only what another rank's end has caused, by all that is known
    found: RunError | None = None  # what the rank has found out about the run as a whole
    module: str = ""  # in which the exception's type is defined
    stated: bool = False  # by a raise statement, and not by what its line calls or computes
    mistake: str = ""  # as ``UsageError.mistake``

    @property
    def ended(self) -> bool:
        """Whether the process has, and not only the function."""
        return self.kind in ("exited", "killed", "silent", "cut", "gone")


class LockstepError(Exception):
    """A sentence that says what is wrong, and one that says what to do."""

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
    """The call cannot be carried out as written: an unknown name, a senseless number of ranks.

    ``mistake``: the name of a mistake that is known, for whoever judges the caller; "" for most."""

    def __init__(self, message: str, remedy: str = "", mistake: str = "") -> None:
        super().__init__(message, remedy)
        self.mistake = mistake


class WorldUnavailable(LockstepError):
    """This machine cannot give the world that was asked for. Never the learner's fault: a check is left ungraded."""

    remedy = "Run `lockstep doctor`: it says what is missing and how to mend it."


class RunError(LockstepError):
    """A run that did not end well. ``states`` tells where each rank was, ``trace`` what had happened until then, and
    ``exit`` which rank's end was the cause, if one was."""

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
    """Every rank that is left waits for communication that cannot happen."""

    remedy = (
        "Follow the circle: let one of these ranks do the operation that the next one waits for, "
        "or do both at once with isend and irecv."
    )


class Mismatch(RunError):
    """The ranks of a group called different collectives, or the same one with tensors that do not fit."""

    remedy = "Every rank of a group must call the same collectives in the same order, with the same shape and dtype."


class Unmatched(RunError):
    """A message was sent and never received, or a receive was posted and never served."""

    remedy = "Give every send a recv with the same peer, tag and group, and wait for what isend and irecv return."


class RankRaised(RunError):
    """The function raised on a rank. The first line of the message is the learner's own exception."""


class RankDied(RunError):
    """A rank's process ended before its function returned: a signal, os._exit, out of memory."""


class OutOfMemory(RunError):
    """A rank of the virtual cluster asked for more bytes than its device has."""


class Stuck(RunError):
    """A rank did nothing that can be observed for too long: an endless loop, a long sleep."""

    remedy = "Look at the line above: does that loop end on every rank? Does it wait for something that no rank does?"


class TimeLimit(RunError):
    """The run took longer than the time it was given."""

    remedy = "Make the problem smaller, or give it longer with run(..., timeout=seconds)."
