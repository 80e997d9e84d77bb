"""A temporary folder for a grader and its judges, which is removed when the grader ends, even if it is killed.

A grader that is killed cannot clean up, nor can its judges, which are killed with it. A process that does nothing else
waits for its end and removes the folder. If that one was killed, too, the next grader does: a folder whose lock nobody
holds is not in use.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lockstep.errors import WorldUnavailable

PREFIX = "lockstep-judge-"
MEMORY = "/dev/shm"  # where there is no room in /tmp
PROBE = 1 << 20  # bytes; a notebook of a learner's fits, and a note on a call


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder, until the context ends. Raises WorldUnavailable where there is no room for one."""
    places = dict.fromkeys([tempfile.gettempdir(), MEMORY])
    for place in places:
        _clear(Path(place))
    folder, lock = _made(list(places))
    told, cleaner = _begin_to_wait(folder)
    try:
        yield folder
    finally:
        os.close(told)
        os.waitpid(cleaner, 0)
        os.close(lock)


def _made(places: list[str]) -> tuple[Path, int]:
    """A new folder with room in it, and the lock that says it is in use."""
    problem = ""
    for place in places:
        folder = lock = None
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / "room").write_bytes(bytes(PROBE))
            (folder / "room").unlink()
            return folder, lock
        except OSError as error:
            problem = problem or f"{place}: {error.strerror}"
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
            if lock is not None:
                os.close(lock)
    raise WorldUnavailable(f"There is no room for the files of judges ({problem}).", "Make room there, or set TMPDIR.")


def _clear(place: Path) -> None:
    """Remove what killed graders of this user have left there."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _begin_to_wait(folder: Path) -> tuple[int, int]:
    """A process that takes the folder away when this one has closed the file that it returns, or ended."""
    ends, told = os.pipe()
    cleaner = os.fork()
    if cleaner == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.setsid()
            os.closerange(0, ends)
            os.closerange(ends + 1, 1 << 20)
            os.read(ends, 1)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(0)
    os.close(ends)
    return told, cleaner
