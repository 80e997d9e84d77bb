"""The process inside a sandbox: it carries out runs, and sends back what they have shown as plain data.

host → worker   the job, the world, the rules and ties, and the file for a note on the call under way; as a pickle
worker → host   the outcome or the error, and the call that was under way; as JSON (``sandbox_messages``)

It holds a run's inputs for all ranks, which no rank may read: its memory is closed to other processes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lockstep import worlds
from lockstep.checks.calls import UnderWay
from lockstep.errors import LockstepError, RunError, UsageError, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.forking.gc_freeze import freeze
from lockstep.grading import hidden_answers, sandbox
from lockstep.grading import syscalls as kernel
from lockstep.grading.sandbox_messages import encoded
from lockstep.grading.sandbox_view import View

READY = b"ready"
FORKS = 41  # of a sandbox: its processes, its server, and the ranks of a check of six world sizes, twice
Told = tuple[Outcome | RunError | WorldUnavailable | UsageError, tuple[int, float, int] | None]


def main(conn: Connection) -> None:
    """The entry point of a child of the warm process. The first message says what the sandbox is like."""
    view: View
    limits: sandbox.Limits
    modules: Sequence[str]
    view, limits, modules, answer = conn.recv()
    try:
        sandbox.enter(view, limits, kept=[conn.fileno()])
    except LockstepError as error:
        conn.send_bytes(encoded(error))
        return
    load(modules, answer)
    serve(conn)


def load(modules: Iterable[str], answer: str) -> None:
    """Import what runs need, as it is seen in here. ``answer``: the module whose text is hidden in here; part of it
    may have been loaded before the fork. "" for none."""
    if answer:
        hidden_answers.forget(answer)
    for module in modules:
        with contextlib.suppress(ImportError):  # who needs it says so
            importlib.import_module(module)
    freeze()
    starter.inherit()


def serve(conn: Connection) -> None:
    """Carry out what is asked for, in a sandbox. The caller's children are forks of it as it is now."""
    kernel.prctl(kernel.DUMPABLE, 0)
    conn.send_bytes(READY)
    while True:
        try:
            asked = conn.recv()
        except EOFError:
            return
        conn.send_bytes(message_of(carried_out(*asked)))


def message_of(told: Told) -> bytes:
    """The message that leaves the sandbox: the result, or an error if the format does not have what a rank returned."""
    try:
        return encoded(told)
    except TypeError as error:
        return encoded((UsageError(f"What a rank has returned cannot leave its sandbox: {error}."), None))


def carried_out(job: Any, where: Any, rules: Any, ties: Any, note: str) -> Told:
    """Run the job: its outcome or its error, and the call that was under way last."""
    path = Path(note) if note else None
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
    told: Outcome | RunError | WorldUnavailable | UsageError
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            told = worlds.carry_out(job, where, rules, ties)
        except (RunError, WorldUnavailable, UsageError) as error:
            told = error
    begun = UnderWay(path).last() if path else None
    if path:
        path.unlink(missing_ok=True)
    return told, (begun.number, begun.seconds, begun.runs) if begun else None
