"""``lockstep board``: how far a class is, for the projector; and ``--join`` and ``--leave``, with which a learner
decides to be part of it."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import progress, reports
from lockstep.errors import UsageError

if TYPE_CHECKING:
    from lockstep.classroom.journal import Journal

LOOPBACK = "127.0.0.1"
TOLD = """Your checks report to it from now on: which exercise, how many points, and the name of the first
misconception that was found. Not your code, and no name{but}. `lockstep board --leave` ends it."""
SAID = {  # by HTTP's status, what a learner is told
    0: "It does not answer now. What you do is kept, and sent when it does.",
    403: "It does not take reports from here: ask for its address as it is now.",
    429: "It has had many reports from here, and takes the rest later.",
    503: "It has no room now. What you do is kept, and sent later.",
}


def board(args: argparse.Namespace) -> int:
    asked = _asked(args)
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} are two things.", "Leave one of them out.")
    if args.nickname and args.join is None:
        raise UsageError("--nickname goes with --join.", "Write `lockstep board --join ADDRESS --nickname NAME`.")
    return _COMMANDS[asked[0] if asked else ""](args)


def _asked(args: argparse.Namespace) -> list[str]:
    given = {name: getattr(args, name.removeprefix("--")) for name in _COMMANDS if name}
    return [name for name, value in given.items() if value is not None and value is not False]


def _join(args: argparse.Namespace) -> int:
    from lockstep.reports.sender import send_all

    joined = reports.join(args.join if args.join != "" else _of_the_hub(), args.nickname or "")
    print(f"You have joined the board at {joined.url}.")
    print(TOLD.format(but=f" but {joined.nickname!r}" if joined.nickname else ""))
    sent = send_all()
    if sent and not sent.arrived:
        print(SAID.get(sent.status, f"It did not take what you have done so far ({sent.status})."))
    return 0


def _of_the_hub() -> str:
    from lockstep.reports.membership import OF_THE_HUB

    if address := os.environ.get(OF_THE_HUB):
        return address
    raise UsageError("Which board?", "Write its address after --join: the board shows it.")


def _leave(args: argparse.Namespace) -> int:
    from lockstep.reports.sender import say_goodbye

    gone = reports.leave()
    if gone is None:
        print("You had joined no board.")
        return 0
    print(f"You have left the board at {gone.url}. Nothing is sent any more.")
    if not say_goodbye(gone).arrived:
        print("It does not answer now, so it still has what you had sent: ask your teacher to take it away.")
    return 0


def _status(args: argparse.Namespace) -> int:
    now = reports.joined()
    if now is None:
        print("You have joined no board, and nothing is sent.")
        return 0
    waiting = f"; results that wait for it: {len(now.unsent)}" if now.unsent else ""
    print(f"You report to {now.url} as {now.nickname or 'nobody in particular'}{waiting}.")
    return 0


def _answer(args: argparse.Namespace) -> int:
    from lockstep.classroom.asking import ask

    return ask(args.answer, args.to)


def _inventory(args: argparse.Namespace) -> int:
    from lockstep.classroom.gain import report

    print("\n".join(report(*map(Path, args.inventory))))
    return 0


def _export(args: argparse.Namespace) -> int:
    from lockstep.checks.wording import counted
    from lockstep.classroom.answer_table import export

    for path, learners in export(_kept(args), Path(args.export)):
        print(f"{path}: the answers of {counted(learners, 'learner')}")
    return 0


def _kept(args: argparse.Namespace) -> Path:
    return Path(args.keep) if args.keep else progress.home() / "class" / "board.jsonl"


def _serve(args: argparse.Namespace) -> int:
    from lockstep.classroom import web
    from lockstep.classroom.journal import Journal
    from lockstep.classroom.learners import Course, Learners
    from lockstep.classroom.reception import Reception

    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # who sends what is no business of a log's
    journal = Journal(_kept(args))
    learners = Learners(Course.here())
    journal.replay(learners)
    reception = Reception(learners, journal, args.learners)
    if args.hub:
        from lockstep.classroom.on_the_hub import service

        app, bind, port = service(reception, journal.token, not args.no_names)
        sockets = web.listening(bind, port)
    else:
        sockets = web.listening(args.bind, args.port)
        where = [_address(a, sockets[0].getsockname()[1], journal.token) for a in web.addresses(args.bind)]
        join = "" if args.bind == LOOPBACK else where[0]
        app = web.application(reception, journal.token, names=not args.no_names, join=join)
        _tell(args.bind, where, len(learners.by_id), journal)
    with suppress(asyncio.CancelledError):
        asyncio.run(_until_ended(lambda: web.serve(app, sockets, reception)))
    return 0


def _address(host: str, port: int, token: str) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={token}"


def _tell(bound: str, where: list[str], learners: int, journal: Journal) -> None:
    print(f"The board: {where[0]}")
    for other in where[1:]:
        print(f"       or: {other}")
    if bound == LOOPBACK:
        print("Only this machine reaches it. For a class: lockstep board --bind 0.0.0.0")
    else:
        print(f"Learners join by: lockstep board --join '{where[0]}'")
    from lockstep.checks.wording import counted

    print(
        f"{counted(learners, 'learner')} so far. Kept in {journal.path}. Ctrl-C ends it; started again, it goes on.",
        flush=True,
    )
    if journal.unreadable:
        print(f"{journal.unreadable} lines of that file cannot be read, and are left out.", file=sys.stderr)


async def _until_ended(serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Ctrl-C and a polite kill end it alike."""
    task = asyncio.ensure_future(serve())
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, task.cancel)
    await task


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "": _serve,
    "--join": _join,
    "--leave": _leave,
    "--status": _status,
    "--answer": _answer,
    "--inventory": _inventory,
    "--export": _export,
}
