"""What a rank's process tells of itself, read by a process that must not run anything of the learner's.

A pickle can name any function, and opening it calls that function. So only the classes below may be named: plain data,
whose making does nothing else. Values that a program returns are another matter (``lockstep.launch.pickled``)."""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import IO, Any

_ERRORS = (
    "RunError", "Deadlock", "Mismatch", "Unmatched", "RankRaised", "RankDied", "OutOfMemory", "Stuck", "TimeLimit",
)  # fmt: skip
FACTS = {
    *(f"lockstep.errors.{name}" for name in (*_ERRORS, "RankState", "Exit")),
    "lockstep.events.Trace",
    "lockstep.events._from_columns",
    "lockstep.events.Unequal",
    "lockstep.events.Memory",
    "lockstep.places.Place",
    "lockstep.comm.operation.Operation",
    "lockstep.launch.rank_process.Returned",
    "lockstep.launch.deadline.Overdue",
    "lockstep.launch.watchdog.Stack",
    "lockstep.launchers.outcomes.Identity",
}


class Forged(Exception):
    """These bytes are no facts of a rank: its program has written where only Lockstep writes."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in FACTS:
            raise Forged(f"{module}.{name} is no fact of a rank")
        return super().find_class(module, name)


def read(stream: IO[bytes]) -> Any:
    """The next entry of a stream. Raises EOFError or Forged where there is none that is whole."""
    try:
        return _Unpickler(stream).load()
    except (EOFError, Forged):
        raise
    except Exception as error:
        raise Forged(f"{type(error).__name__}: {error}") from None


def opened(message: bytes) -> Any:
    """One message. Raises Forged."""
    try:
        return read(io.BytesIO(message))
    except EOFError:
        raise Forged("it is empty, or cut off") from None


def receive(conn: Connection) -> tuple[Any, ...]:
    """The next message of a rank. Raises EOFError or OSError where it has hung up, and Forged."""
    message = opened(conn.recv_bytes())
    if not isinstance(message, tuple):
        raise Forged("a message of a rank is a tuple")
    return message
