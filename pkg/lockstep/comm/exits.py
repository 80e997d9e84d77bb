"""How a rank ended that did not return, as facts; and which of several such ends was the cause of the others."""

from __future__ import annotations

import dis
import os
import re
import signal
import time
import traceback
from collections.abc import Mapping, Sequence

import torch

from lockstep import places
from lockstep.errors import Exit, RankDied, RankRaised, RankState, RunError, UsageError
from lockstep.places import NOWHERE, Place

# torch's errors bear no facts. This is what a rank meets when another one has ended.
_BROKEN = re.compile(
    r"Connection (closed|reset|refused)|Broken pipe|connectFullMesh|Socket|Timed out waiting|Application timeout|"
    r"Read error|Write error|gloo/transport|remote peer|NCCL communicator was aborted|Horovod has been shut down",
    re.IGNORECASE,
)
# Where a raise statement stands; numba's frames consist of a RESUME alone, and what it compiles raises so, too.
_STATED = (dis.opmap["RAISE_VARARGS"], dis.opmap["RESUME"])
LONGEST = 4000  # characters of what an exception tells
_HINTS = {"SIGKILL": ": out of memory?", "SIGSEGV": ": segmentation fault", "SIGABRT": ": abort"}
_PACKAGES = {
    "torch": os.path.join(os.path.dirname(torch.__file__), ""),
    "lockstep": os.path.join(os.path.dirname(places.__file__), ""),
}


def raised(rank: int, error: BaseException) -> Exit:
    name, message = type(error).__name__, shortened(message_of(error))
    return Exit(
        rank, "raised", name, origin_of(error), places.innermost(error),
        message=message,
        told=shortened(places.learners_traceback(error)),
        when=time.monotonic(),
        secondary=name.endswith("Error") and bool(_BROKEN.search(message)),
        found=error if isinstance(error, RunError) else None,
        module=type(error).__module__,
        stated=is_stated(error),
        mistake=error.mistake if isinstance(error, UsageError) else "",
    )  # fmt: skip


def died(rank: int, exitcode: int | None, when: float, said: str = "") -> Exit:
    """``exitcode`` as of multiprocessing: minus the signal; None while the process is there. ``said``: why, if C++ has
    told."""
    if exitcode is None:
        return Exit(rank, "silent", when=when)
    return Exit(rank, "killed" if exitcode < 0 else "exited", status=abs(exitcode), when=when, message=said)


def reason(end: Exit) -> str:
    """ "ValueError: bad shape", "was killed by SIGSEGV: segmentation fault"."""
    if end.kind == "raised":
        return f"{end.exception}: {end.message}"
    if end.kind == "killed":
        name = signal.Signals(end.status).name
        said = f" ({shortened(end.message)})" if end.message else ""
        return f"was killed by {name}{_HINTS.get(name, '')}{said}"
    return {
        "exited": f"ended with exit status {end.status}",
        "silent": "does not answer any more: its process was stopped, or has closed its files",
        "cut": "has closed files that it had not opened, or written to them: what became of it cannot be told",
        "gone": "has ended without a word: killed? out of memory?",
    }.get(end.kind, end.message)


def rank_state(end: Exit, where: Place = NOWHERE) -> RankState:
    """``where``: the line on which a rank ended that did not raise, if anybody knows."""
    if end.kind == "raised":
        place = end.place
        return RankState(end.rank, "raised", where=str(place), source=place.source, detail=end.exception)
    return RankState(end.rank, "died", where=str(where), source=where.source, detail=reason(end))


def error(end: Exit, states: Sequence[RankState] = ()) -> RunError:
    """What ends a run in which this was the cause."""
    if end.found:
        return end.found
    told = f"rank {end.rank} raised {reason(end)}\n{end.told}" if end.kind == "raised" else died_of(end)
    return (RankRaised if end.kind == "raised" else RankDied)(told, states, exit=end)


def died_of(end: Exit) -> str:
    question = end.kind == "gone" or (end.kind == "killed" and end.status == signal.SIGKILL)
    return f"rank {end.rank} {reason(end)}{'' if question else '.'}"


def first_cause(exits: Mapping[int, Exit]) -> Exit:
    """The end that came first. What ranks met as a consequence of another one's does not count."""
    in_order = sorted(exits.values(), key=lambda end: end.when)
    return next((end for end in in_order if not end.secondary), in_order[0])


def origin_of(error: BaseException) -> str:
    """Whose line raised it. A function of C++ that the learner calls raises on the learner's line."""
    frames = traceback.extract_tb(error.__traceback__)
    file = os.path.realpath(frames[-1].filename) if frames else ""
    other = "library" if frames and places.is_library(frames[-1].filename) else "learner"
    return next((name for name, folder in _PACKAGES.items() if file.startswith(folder)), other)


def is_stated(error: BaseException) -> bool:
    """Whether a raise statement raised it, and not what the innermost line calls or computes."""
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
    """Both ends of a text that nobody would read: a tensor, a page of HTML."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} ... {len(text) - 2 * half:,} more characters ... {text[-half:]}"
