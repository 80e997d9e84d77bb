"""Whether this learner has joined a board, and which results it has not received yet: ``board.json`` in
`lockstep.progress.home()`, readable by its owner alone. Without that file nothing is ever sent.

Writes are atomic and locked, as those of the progress: several notebooks may check at the same time.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

from lockstep import progress
from lockstep.errors import UsageError
from lockstep.reports.report import MOST_RESULTS, Refused, Report, Result, nickname_of

MOST_UNSENT = 2000  # results that are kept for a board that does not answer; the oldest go first
OF_THE_HUB = "LOCKSTEP_BOARD"  # the address of the hub's board, which the hub sets (docs/board.md)


@dataclass(frozen=True)
class Membership:
    """The board's address, ending with a slash; its token, empty for a hub's board; and who reports."""

    url: str
    token: str
    learner: str
    nickname: str = ""
    next: int = 1  # the number of the next result
    unsent: tuple[Result, ...] = ()

    @property
    def report(self) -> Report:
        """What is sent next: the oldest results that have not arrived."""
        return Report(self.learner, self.nickname, self.unsent[:MOST_RESULTS])

    @property
    def credential(self) -> str:
        """The token to send. The hub's own is sent to the board that the hub has named, and to no other."""
        if self.token:
            return self.token
        return os.environ.get("JUPYTERHUB_API_TOKEN", "") if self.url == os.environ.get(OF_THE_HUB) else ""

    def with_results(self, found: Sequence[tuple[str, float, str]]) -> Membership:
        """The same with more to send: (exercise, points, misconception) of each."""
        new = [Result(number, *one) for number, one in enumerate(found, self.next)]
        return replace(self, next=self.next + len(new), unsent=(*self.unsent, *new)[-MOST_UNSENT:])


def join(address: str, nickname: str = "") -> Membership:
    """Join the board at ``address``, with the results that are on record. Whoever was on another board has left it.

    Raises UsageError for an address that is no board's, and for a nickname that cannot be shown.
    """
    url, token = _parts(address)
    try:
        named = nickname_of(nickname)
    except Refused:
        raise UsageError(
            f"{nickname!r} cannot be shown as a nickname.",
            "Take 20 letters and digits at most; spaces, points and hyphens may stand between them.",
        ) from None
    with _lock():
        before = _read()
        if before and (before.url, before.token) == (url, token):
            now = replace(before, nickname=named)
        else:
            results = [(id, score.best, "") for id, score in progress.scores().items()]
            now = Membership(url, token, secrets.token_hex(16), named).with_results(results)
        _write(now)
    return now


def leave() -> Membership | None:
    """Report no more; who it was, None if nobody had joined."""
    with _lock():
        before = _read()
        with suppress(FileNotFoundError):
            _file().unlink()
    return before


def joined() -> Membership | None:
    """Who reports here, and to whom; None if nobody has joined."""
    return _read()


def has_joined() -> bool:
    """Whether somebody reports from here, without reading more than a folder."""
    return _file().exists()


def add(exercise: str, points: float, misconception: str) -> bool:
    """Keep a result until it has arrived. False, and nothing kept, where nobody has joined."""
    if not has_joined():
        return False
    with _lock():
        if now := _read():
            _write(now.with_results([(exercise, points, misconception)]))
        return now is not None


def arrived(learner: str, number: int) -> None:
    """The board has this learner's results up to ``number``."""
    with _lock():
        now = _read()
        if now and now.learner == learner:
            _write(replace(now, unsent=tuple(r for r in now.unsent if r.number > number)))


def _parts(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise UsageError(
            f"{address!r} is not the address of a board.",
            "Copy the whole address that the board shows, as in http://192.168.1.20:8650/?token=…",
        )
    token = parse_qs(parts.query).get("token", [""])[0]
    url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + "/", "", ""))
    if not token and url != os.environ.get(OF_THE_HUB):
        raise UsageError("This address has no token.", "Copy all of it, with ?token=… at its end.")
    return url, token


def _file() -> Path:
    return progress.home() / "board.json"


def _read() -> Membership | None:
    """None also for a file that somebody has broken: then nothing is sent, and joining again writes a new one."""
    try:
        told = json.loads(_file().read_text(encoding="utf-8"))
        return Membership(**told | {"unsent": tuple(Result(**row) for row in told["unsent"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _write(now: Membership) -> None:
    handle, name = tempfile.mkstemp(dir=progress.home(), prefix=".board-", text=True)  # its owner's alone
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            json.dump(asdict(now), new)
        os.replace(name, _file())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def _lock() -> Iterator[None]:
    """A lock among processes and threads; where files cannot be locked, there is none."""
    handle = os.open(progress.home() / "board.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
