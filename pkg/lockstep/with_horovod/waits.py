"""Deadlock detection for Horovod: a deadlock ends with a report of the ranks, their tensors and their lines.

Horovod carries out a tensor's operation when every rank has requested it, by name. A rank that waits for one too long
posts that on a board that all can read, and withdraws it when it goes on. When all ranks of the job wait (or have
ended), each for something that one of them has not requested, none will ever go on. A rank that computes posts nothing:
as long as there is one, there is no deadlock.

Horovod waits in C++, where none of this is possible. So Horovod's Python part is given a ``Library`` in place of the
C++ one, which polls until the operation is done.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from lockstep import deadlock_report, places
from lockstep.errors import Deadlock, RankState
from lockstep.places import Place

PATIENCE = 0.5  # seconds after which a rank posts that it waits
CONFIRM = 0.4  # seconds in which nothing may change on the board
GLANCE = 0.1  # seconds between two looks at the board
ANSWER = 0.3  # seconds for the others to post what they requested, when the requests do not match
PAUSES = (5e-5, 1e-3, 1.2)  # seconds between two polls of Horovod: the first, the longest, the growth

BY_NAME = (
    "Horovod negotiates by name: a blocking operation ends when every rank has called the one of that name. Call them "
    "in the same order on all ranks, or start them all with allreduce_async, and synchronize then."
)
UNNAMED = (
    "Horovod names tensors without a name by the number of operations that a rank has called before: give them names, "
    "the same on every rank."
)


@dataclass(frozen=True)
class Asked:
    """One operation that this rank has requested. ``key``: its name in Horovod, the same on every rank."""

    key: str
    shown: str  # "allreduce 'a'"
    place: Place
    process_set: int = 0
    what: str = ""  # "float32 [3, 4]": what must agree between the ranks, and is reported when it does not


@dataclass(frozen=True)
class Notice:
    """What a rank posts on the board. ``state``: "going", "waiting", "finished", "raised", "refused" (by Horovod, with
    what it had requested), "left" (it has called hvd.shutdown, at ``where``; a rank that has finished with a ``where``
    has, too)."""

    state: str
    key: str = ""
    operation: str = ""
    where: str = ""
    source: str = ""
    members: tuple[int, ...] = ()  # the ranks that the operation needs
    asked: tuple[str, ...] = ()  # the keys of what it has asked for that is not done
    changes: int = 0


class Board:
    """Key-value pairs in torch's store that all ranks of the job can read. ``session`` separates one use of Horovod
    from the next."""

    def __init__(self, store: Any, session: str, rank: int, size: int) -> None:
        self._store, self._session, self.rank, self.size = store, session, rank, size
        self._changes = 0

    def tell(self, what: str, content: str) -> None:
        self._store.set(f"{self._session}/{what}", content)

    def hear(self, what: str) -> str:
        """The value of a key, waiting until some rank has set it."""
        told: bytes = self._store.get(f"{self._session}/{what}")
        return told.decode()

    def publish(self, notice: Notice) -> None:
        self._changes += 1
        self.tell(f"notice-{self.rank}", json.dumps(asdict(replace(notice, changes=self._changes))))

    def notices(self) -> list[Notice | None]:
        """The notices by rank; None for a rank that has posted none."""
        return [self._notice(r) for r in range(self.size)]

    def _notice(self, rank: int) -> Notice | None:
        key = f"notice-{rank}"
        if not self._store.check([f"{self._session}/{key}"]):
            return None
        told = json.loads(self.hear(key))
        return Notice(**{**told, "members": tuple(told["members"]), "asked": tuple(told["asked"])})

    def meet(self, what: str, limit: float = math.inf) -> None:
        """Wait until every rank has come here, or for ``limit`` seconds. (A wait of torch's stores that times out logs
        a warning; this does not.)"""
        self.tell(f"{what}-{self.rank}", "")
        keys = [f"{self._session}/{what}-{r}" for r in range(self.size)]
        until, pause = time.monotonic() + limit, 3e-4
        while not self._store.check(keys) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(0.01, 1.1 * pause)


def waits_for(rank: int, notices: Sequence[Notice | None]) -> tuple[int, ...]:
    """The ranks that have not requested the operation that ``rank`` waits for. A rank in hvd.join takes part in all
    operations."""
    mine = notices[rank]
    if mine is None:
        return ()
    told = {r: n for r, n in enumerate(notices) if n is not None and r in mine.members}
    return tuple(r for r, n in told.items() if mine.key not in n.asked and (n.state != "waiting" or n.key != "join"))


def deadlock(notices: Sequence[Notice | None]) -> Deadlock | None:
    """The error to raise when no rank can go on; None as long as one may."""
    waiting = {r: waits_for(r, notices) for r, n in enumerate(notices) if n and n.state == "waiting"}
    ended = [r for r, n in enumerate(notices) if n and n.state == "finished"]
    if len(waiting) + len(ended) < len(notices) or not waiting or not all(waiting.values()):
        return None
    states = [_state(r, n, waiting.get(r, ())) for r, n in enumerate(notices) if n]
    error = deadlock_report.deadlock(states)
    if gone := deadlock_report.absentees(states):
        name = deadlock_report.some(list(gone))
        error.remedy = f"Let {name} take part, too; or let every rank call hvd.join() when its data is used up."
    else:
        unnamed = all(".noname." in n.key for n in notices if n)
        error.remedy = UNNAMED if unnamed else BY_NAME
    return error


def _state(rank: int, n: Notice, waited_for: tuple[int, ...]) -> RankState:
    if n.state == "finished":
        return RankState(rank, "finished")
    return RankState(rank, "waiting", n.operation, n.where, n.source, waited_for, kind=n.operation.partition(" ")[0])


@dataclass
class Library:
    """Horovod's C++ library (``inner``) as its Python part calls it: every call is passed on. Requests are noted, and a
    rank that waits posts a notice. ``members``: the ranks of a process set."""

    inner: Any
    board: Board
    members: Callable[[int], Sequence[int]]
    before_shutdown: Callable[[], None] = lambda: None
    left: str = ""  # where the script has called hvd.shutdown
    _open: dict[int, Asked] = field(default_factory=dict)  # by handle

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.inner, name)
        kind = re.match(r"horovod_torch_(\w+?)_async_|horovod_torch_(join|barrier)$", name)
        return self._noting(function, kind[1] or kind[2]) if kind else function

    def _noting(self, function: Callable[..., int], kind: str) -> Callable[..., int]:
        def ask(*args: Any) -> int:
            asked = asked_for(kind, args)
            try:
                handle = function(*args)
            except (RuntimeError, ValueError) as error:
                raise type(error)(self._explained(str(error), asked)) from None
            if asked.key.endswith("."):
                asked = replace(asked, key=f"{asked.key}noname.{handle}", shown=f"{kind} 'noname.{handle}'")
            self._open[handle] = asked
            return handle

        return ask

    def horovod_torch_reset(self) -> None:
        """Called first by hvd.shutdown()."""
        place = places.here()
        self._open.clear()
        if place.file:
            self.left = str(place)
            self.board.publish(Notice("left", where=self.left, source=place.source))
        self.before_shutdown()
        self.inner.horovod_torch_reset()

    def horovod_torch_wait_and_clear(self, handle: int) -> None:
        """Wait for an operation, as in C++. Raises Deadlock when no rank can go on."""
        asked = self._open.get(handle)
        if asked:
            self._wait(handle, asked)
        self._open.pop(handle, None)
        try:
            self.inner.horovod_torch_wait_and_clear(handle)
        except (RuntimeError, ValueError) as error:
            raise type(error)(self._explained(str(error), asked)) from None

    def _wait(self, handle: int, asked: Asked) -> None:
        pause, longest, growth = PAUSES
        began, watch = time.monotonic(), None
        while not self.inner.horovod_torch_poll(handle):
            time.sleep(pause)
            pause = min(longest, growth * pause)
            if watch is None and time.monotonic() - began > PATIENCE:
                watch = Watch(self.board)
            if watch and watch.due():
                watch.look(self._waiting(asked))
        if watch:
            self.board.publish(Notice("going"))

    def _waiting(self, asked: Asked) -> Notice:
        place = places.here()
        members = tuple(self.members(asked.process_set))
        on = f" on ranks {', '.join(map(str, members))}" if asked.process_set else ""
        return Notice("waiting", asked.key, asked.shown + on, str(place), place.source, members, self.undone())

    def undone(self) -> tuple[str, ...]:
        """The keys of this rank's requests that are not done."""
        return tuple(a.key for h, a in list(self._open.items()) if not self.inner.horovod_torch_poll(h))

    # ---- Horovod's errors, with the requests of all ranks

    def _explained(self, reason: str, asked: Asked | None) -> str:
        if reason.startswith(("Horovod has been shut down", "Horovod has not been initialized")):
            return self._shut_down(reason)
        if "same name as another tensor" in reason and asked:
            first = next((a for a in self._open.values() if a.key == asked.key), None)
            return f"{reason} ({asked.shown} is under way since {first.place}.)" if first else reason
        return self._refused(reason, asked) if asked and reason.startswith("Mismatched") else reason

    def _shut_down(self, reason: str) -> str:
        """The error with its cause: a rank that raised, or that has called hvd.shutdown(), maybe this one."""
        notices = {r: n for r, n in enumerate(self.board.notices()) if n}
        left = {r: n.where for r, n in notices.items() if n.state in ("left", "finished") and n.where}
        told = [f"rank {r} has called hvd.shutdown() at {where}" for r, where in left.items()]
        told += [f"rank {r} has raised an exception" for r, n in notices.items() if n.state == "raised"]
        return f"Horovod has been shut down: {'; '.join(told)}." if told else reason

    def _refused(self, reason: str, asked: Asked) -> str:
        """The error with what each rank had requested: all ranks that took part get the same error now, and post it."""
        self.board.publish(Notice("refused", asked.key, operation=asked.what))
        until = time.monotonic() + ANSWER
        had: dict[int, str] = {}
        while len(had) < self.board.size and time.monotonic() < until:
            told = {r: n for r, n in enumerate(self.board.notices()) if n and n.state == "refused"}
            had = {r: n.operation for r, n in told.items() if n.key == asked.key}
            time.sleep(0.01)
        by_what: dict[str, list[int]] = {}
        for r, what in had.items():
            by_what.setdefault(what, []).append(r)
        told_all = ", ".join(f"{what} on {deadlock_report.some(ranks)}" for what, ranks in by_what.items())
        return f"{reason} ({asked.shown}: {told_all}.)"


class Watch:
    """A waiting rank's looks at the board."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._told: Notice | None = None
        self._seen: list[Notice | None] = []
        self._since = self._next = 0.0

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def look(self, mine: Notice) -> None:
        """Post what this rank waits for, and read what the others have posted. Raises Deadlock."""
        if mine != self._told:
            self._board.publish(mine)
            self._told = mine
        notices = self._board.notices()
        now = time.monotonic()
        self._next = now + GLANCE * max(1.0, self._board.size / 16)  # many ranks that poll often are a burden
        if notices != self._seen:
            self._seen, self._since = notices, now
        elif now - self._since >= CONFIRM and (error := deadlock(notices)):
            raise error


def asked_for(kind: str, args: Sequence[Any]) -> Asked:
    """The operation that a call of Horovod's C++ library requests: ``kind`` "allreduce", and its arguments."""
    if kind == "join":
        return Asked("join", "join()", places.here())
    if kind == "barrier":
        return Asked(f"barrier.{args[0]}", "barrier()", places.here(), args[0])
    at = next(i for i, a in enumerate(args) if isinstance(a, (bytes, str)))
    name = args[at].decode() if isinstance(args[at], bytes) else args[at]
    process_set = args[at + 2] if "reducescatter" in kind else args[-1]
    key = f"{f'{process_set}:' if process_set else ''}{kind}.{name}"
    root = f", root {args[2]}" if kind == "broadcast" else ""
    return Asked(key, f"{kind} {name!r}", places.here(), process_set, _described(args[0]) + root)


def _described(tensors: Any) -> str:
    """dtype and shape, as in "float32 [3, 4]"."""
    several = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
    return " and ".join(f"{deadlock_report.dtype_name(t.dtype)} {list(t.shape)}" for t in several)


@contextmanager
def watched(board: Board, before_shutdown: Callable[[], None] = lambda: None) -> Iterator[Library]:
    """Context in which no wait for Horovod lasts for ever. ``before_shutdown`` is called before the script shuts it
    down."""
    from horovod.torch import mpi_ops

    inner = mpi_ops.mpi_lib
    library = Library(
        inner, board, lambda number: mpi_ops._basics._get_process_set_ids_and_ranks()[number], before_shutdown
    )
    mpi_ops.mpi_lib = library
    try:
        yield library
    finally:
        mpi_ops.mpi_lib = inner


def leave(board: Board, library: Library) -> None:
    """This rank's function has ended. One rank's shutdown shuts Horovod down for all: so all ranks come here first, and
    a rank that waits for this one learns that it will not come, except for its operations that are under way."""
    board.publish(Notice("finished", where=library.left, asked=library.undone()))
    board.meet("end")


def give_up(board: Board) -> None:
    """This rank has raised an exception. Other ranks that have raised come here, too, and report theirs before Horovod
    is shut down for all of them."""
    board.publish(Notice("raised"))
    board.meet("end", PATIENCE)
