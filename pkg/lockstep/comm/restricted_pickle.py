"""A restricted unpickler for messages of ranks, read by a process that must not execute a learner's code.

A pickle can name any function, and loading it calls that function. So only the classes below are allowed, all of them
plain data. Values that a program returns are handled elsewhere (``lockstep.launch.pickled``)."""

from __future__ import annotations

import io
import pickle
from multiprocessing.connection import Connection
from typing import IO, Any

_ERRORS = (
    "RunError", "Deadlock", "Mismatch", "Unmatched", "RankRaised", "RankDied", "OutOfMemory", "Stuck", "TimeLimit",
    "Race",
)  # fmt: skip
FACTS = {
    *(f"lockstep.errors.{name}" for name in (*_ERRORS, "RankState", "Exit")),
    "lockstep.events.Trace",
    "lockstep.events._from_columns",
    "lockstep.events.Unequal",
    "lockstep.events.Memory",
    "lockstep.events.Span",
    "lockstep.places.Helper",
    "lockstep.places.Place",
    "lockstep.comm.operation.Operation",
    "lockstep.launch.rank_process.Returned",
    "lockstep.launch.deadline.Overdue",
    "lockstep.launch.watchdog.Stack",
    "lockstep.launchers.outcomes.Identity",
}


class Forged(Exception):
    """The bytes are no valid message of a rank: its program has written to Lockstep's connection."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" not in FACTS:
            raise Forged(f"{module}.{name} is no fact of a rank")
        return super().find_class(module, name)


def read(stream: IO[bytes]) -> Any:
    """The next entry of a stream. Raises EOFError at its end, and Forged for an incomplete or invalid one."""
    try:
        return _Unpickler(stream).load()
    except (EOFError, Forged):
        raise
    except Exception as error:
        raise Forged(f"{type(error).__name__}: {error}") from None


def opened(message: bytes) -> Any:
    """The content of one message. Raises Forged."""
    try:
        return read(io.BytesIO(message))
    except EOFError:
        raise Forged("it is empty, or cut off") from None


def receive(conn: Connection) -> tuple[Any, ...]:
    """The next message of a rank. Raises EOFError or OSError if the connection is closed, and Forged."""
    message = opened(conn.recv_bytes())
    if not isinstance(message, tuple):
        raise Forged("a message of a rank is a tuple")
    return message
