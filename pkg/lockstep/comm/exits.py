"""How a rank ended without returning, as plain data, and which of several such ends caused the others."""

from __future__ import annotations

import dis
import os
import re
import signal
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Literal

import torch

from lockstep import places
from lockstep.errors import Exit, RankDied, RankRaised, RankState, RunError, UsageError
from lockstep.places import NOWHERE, Place
from lockstep.shadows import advice, shadow_of

# torch's errors have no structured data. These are the messages that a rank gets when another one has ended.
_BROKEN = re.compile(
    r"Connection (closed|reset|refused)|Broken pipe|connectFullMesh|Socket|Timed out waiting|Application timeout|"
    r"Read error|Write error|gloo/transport|remote peer|NCCL communicator was aborted|Horovod has been shut down",
    re.IGNORECASE,
)
# The instructions of a raise statement. numba's frames consist of a RESUME alone, also where compiled code raises.
_STATED = (dis.opmap["RAISE_VARARGS"], dis.opmap["RESUME"])
LONGEST = 4000  # characters of an exception's message
_HINTS: dict[int, str] = {
    signal.SIGSEGV: ": segmentation fault",
    signal.SIGABRT: ": abort",
    signal.SIGBUS: ": bus error, as when a file that is mapped, or /dev/shm, has no room",
}
_KILLS = {
    True: ": the system was out of memory",
    False: ": by kill -9, as it seems, since the kernel has killed nothing here for want of memory",
    None: ": by the system when memory is short, or by kill -9",
}
_PACKAGES = {
    "torch": os.path.join(os.path.dirname(torch.__file__), ""),
    "lockstep": os.path.join(os.path.dirname(places.__file__), ""),
}


class Left(SystemExit):
    """A rank's script has ended with an exit status that is not 0."""


def raised(rank: int, error: BaseException) -> Exit:
    """The end of a rank whose function has raised ``error``."""
    if isinstance(error, Left):
        return Exit(rank, "exited", place=places.innermost(error), status=int(error.code or 0), when=time.monotonic())
    name, message = type(error).__name__, shortened(message_of(error))
    return Exit(
        rank, "raised", name, origin_of(error), places.innermost(error),
        message=message,
        told=shortened(places.learners_traceback(error)),
        when=time.monotonic(),
        secondary=name.endswith("Error") and bool(_BROKEN.search(message)),
        found=error if isinstance(error, RunError) else None,
        module=type(error).__module__,
        bases=tuple(base.__name__ for base in type(error).__mro__[1:]),
        stated=is_stated(error),
        mistake=error.mistake if isinstance(error, UsageError) else "",
        shadow=shadow_of(error),
    )  # fmt: skip


def died(
    rank: int, exitcode: int | None, when: float, said: str = "", starved: bool | None = None, orphaned: bool = False
) -> Exit:
    """The end of a process. ``exitcode``: as in multiprocessing, minus the signal's number; None while it exists.
    ``said``: the C++ error, if it has printed one. ``starved``, ``orphaned``: as in ``Exit``."""
    if exitcode is None:
        return Exit(rank, "silent", when=when)
    kind: Literal["orphaned", "killed", "exited"] = "orphaned" if orphaned else "killed" if exitcode < 0 else "exited"
    return Exit(rank, kind, status=abs(exitcode), when=when, message=said, starved=starved)


def reason(end: Exit) -> str:
    """ "ValueError: bad shape", "was killed by SIGSEGV: segmentation fault"."""
    if end.kind == "raised":
        return f"{end.exception}: {end.message}"
    if end.kind == "killed":
        hint = _KILLS[end.starved] if end.status == signal.SIGKILL else _HINTS.get(end.status, "")
        said = f" ({shortened(end.message)})" if end.message else ""
        return f"was killed by {signal_name(end.status)}{hint}{said}"
    if end.kind == "orphaned":
        return f"was killed with its fork server, the process that starts ranks, which was killed{_KILLS[end.starved]}"
    return {
        "exited": f"ended with exit status {end.status}",
        "silent": "does not answer any more: its process was stopped, or has closed its files",
        "cut": "has closed files that it had not opened, or written to them: what became of it cannot be told",
        "gone": "has ended without a word: perhaps killed, by the system when memory is short or by kill -9",
    }.get(end.kind, end.message)


def rank_state(end: Exit, where: Place = NOWHERE) -> RankState:
    """The state of a rank that has ended. ``where``: the line of a rank that did not raise, where ``end`` has none."""
    if end.kind == "raised":
        place = end.place
        return RankState(end.rank, "raised", where=str(place), source=place.source, detail=end.exception)
    place = where if where.file else end.place
    return RankState(end.rank, "died", where=str(place), source=place.source, detail=reason(end))


def error(end: Exit, states: Sequence[RankState] = ()) -> RunError:
    """The RunError of a run that failed because of ``end``."""
    if end.found:
        return end.found
    told = f"rank {end.rank} raised {reason(end)}\n{end.told}" if end.kind == "raised" else died_of(end)
    remedy = advice(end.shadow) if end.shadow else ""
    return (RankRaised if end.kind == "raised" else RankDied)(told, states, remedy=remedy, exit=end)


def died_of(end: Exit) -> str:
    return f"rank {end.rank} {reason(end)}."


def signal_name(number: int) -> str:
    """ "SIGKILL"; "signal 40" for a real-time signal, which has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def first_cause(exits: Mapping[int, Exit]) -> Exit:
    """The earliest end that is not a consequence of another rank's end."""
    in_order = sorted(exits.values(), key=lambda end: end.when)
    return next((end for end in in_order if not end.secondary), in_order[0])


def origin_of(error: BaseException) -> str:
    """Which code raised it: "learner", "torch", "lockstep" or "library". A C++ function raises on its caller's line."""
    frames = traceback.extract_tb(error.__traceback__)
    file = os.path.realpath(frames[-1].filename) if frames else ""
    other = "library" if frames and places.is_library(frames[-1].filename) else "learner"
    return next((name for name, folder in _PACKAGES.items() if file.startswith(folder)), other)


def is_stated(error: BaseException) -> bool:
    """Whether a raise statement raised it, rather than something that the innermost line calls or computes."""
    tb = error.__traceback__
    while tb and tb.tb_next:
        tb = tb.tb_next
    return tb is not None and tb.tb_lasti >= 0 and tb.tb_frame.f_code.co_code[tb.tb_lasti] in _STATED


def message_of(error: BaseException) -> str:
    try:
        return places.without_library(str(error)).rstrip()
    except Exception as another:
        return f"(its message cannot be told: str() of it raises {type(another).__name__})"


def shortened(text: str) -> str:
    """The beginning and the end of a very long text, such as a tensor or a page of HTML."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} ... {len(text) - 2 * half:,} more characters ... {text[-half:]}"
