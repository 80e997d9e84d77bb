"""How a rank ended badly, and which of several bad ends was the cause of the others."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lockstep import places
from lockstep.errors import RankDied, RankRaised, RunError, Standing
from lockstep.places import Place

# What a rank meets when another one has ended: not a cause.
_SECONDARY = re.compile(
    r"Connection (closed|reset|refused)|Broken pipe|connectFullMesh|Socket|Timed out waiting|Application timeout|"
    r"Read error|Write error|gloo/transport|remote peer|NCCL communicator was aborted",
    re.IGNORECASE,
)
LONGEST = 4000  # characters of what an exception tells
_HINTS = {"SIGKILL": ": out of memory?", "SIGSEGV": ": segmentation fault", "SIGABRT": ": abort"}


@dataclass(frozen=True)
class Raised:
    """The function raised. Plain data: the exception itself may not be able to travel."""

    kind: str  # the exception's type
    message: str
    told: str  # the learner's traceback
    place: Place
    when: float  # of time.monotonic
    found: RunError | None = None  # what it has found out about the run as a whole

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        told = shortened(places.learners_traceback(error))
        kind, message, place = type(error).__name__, shortened(message_of(error)), places.innermost(error)
        return cls(kind, message, told, place, time.monotonic(), error if isinstance(error, RunError) else None)

    @property
    def secondary(self) -> bool:
        """Whether it may be only what another rank's end has caused."""
        return self.kind.endswith("Error") and bool(_SECONDARY.search(self.message))

    def standing(self, rank: int) -> Standing:
        return Standing(rank, "raised", where=str(self.place), source=self.place.source, detail=self.kind)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def message_of(error: BaseException) -> str:
    try:
        return places.without_library(str(error)).rstrip()
    except Exception as another:
        return f"(its message cannot be told: str() of it raises {type(another).__name__})"


def shortened(text: str) -> str:
    """Both ends of a text that nobody would read: a tensor, a page of HTML."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} ... {len(text) - 2 * half:,} more characters ... {text[-half:]}"


@dataclass(frozen=True)
class Died:
    """The process ended."""

    exitcode: int | None
    when: float

    secondary = False

    def standing(self, rank: int) -> Standing:
        return Standing(rank, "died", detail=str(self))

    def __str__(self) -> str:
        if self.exitcode is None:
            return "does not answer any more: its process was stopped, or has closed its files"
        if self.exitcode >= 0:
            return f"ended with exit status {self.exitcode}"
        name = signal.Signals(-self.exitcode).name
        return f"was killed by {name}{_HINTS.get(name, '')}"


@dataclass(frozen=True)
class Gone(Died):
    """The process has ended, and its exit status is known to its launcher alone."""

    def __str__(self) -> str:
        return super().__str__() if self.exitcode is not None else "has ended without a word: killed? out of memory?"


@dataclass(frozen=True)
class Unavailable:
    """The machine cannot carry it: it could not begin, or there is no room for its journal."""

    reason: str
    when: float = 0.0

    secondary = False

    def standing(self, rank: int) -> Standing:
        return Standing(rank, "died", detail=self.reason)

    def __str__(self) -> str:
        return self.reason


End = Raised | Died | Unavailable


def first_cause(ends: Mapping[int, End]) -> tuple[int, End]:
    """The rank that ended first, and how; what other ranks met as a consequence does not count."""
    in_order = sorted(ends.items(), key=lambda item: item[1].when)
    return next((item for item in in_order if not item[1].secondary), in_order[0])


def as_error(rank: int, end: End, standings: Sequence[Standing]) -> RunError:
    if isinstance(end, Raised):
        if end.found:
            return end.found
        return RankRaised(f"rank {rank} raised {end}\n{end.told}", standings)
    told = f"rank {rank} {end}"
    return RankDied(told if told.endswith("?") else f"{told}.", standings)
