"""The inside of a sandbox: a process that carries out runs, and tells what they have shown as plain facts.

outside → inside   the job, the world, the rules and ties; where a note on calls under way is to be; as a pickle
inside → outside   ("outcome" or "error", facts, and the call that was under way), as JSON

It holds what a rank could read of it, a run's inputs for all ranks; its memory is shut to other processes.
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
from lockstep.grading import kernel_calls as kernel
from lockstep.grading import sandbox, withheld
from lockstep.grading.plain_facts import encoded
from lockstep.grading.sandbox_view import View

READY = b"ready"
FORKS = 41  # of a sandbox: its processes, its server, and the ranks of a check of six world sizes, twice
Told = tuple[Outcome | RunError | WorldUnavailable | UsageError, tuple[int, float] | None]


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
    """Import what runs need, as it is seen in here. ``answer``: the module that is not seen as it is, part of which
    this process may have had before; "" for none."""
    if answer:
        withheld.forget(answer)
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
    """What leaves the sandbox: what has been shown, or that it is nothing that could."""
    try:
        return encoded(told)
    except TypeError as error:
        return encoded((UsageError(f"What a rank has returned cannot leave its sandbox: {error}."), None))


def carried_out(job: Any, on: Any, rules: Any, ties: Any, note: str) -> Told:
    """What a run has shown, and which call was under way last."""
    path = Path(note) if note else None
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
    told: Outcome | RunError | WorldUnavailable | UsageError
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            told = worlds.carry_out(job, on, rules, ties)
        except (RunError, WorldUnavailable, UsageError) as error:
            told = error
    begun = UnderWay(path).last() if path else None
    if path:
        path.unlink(missing_ok=True)
    return told, (begun.number, begun.seconds) if begun else None
