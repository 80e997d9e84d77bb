"""The files that a thread opens to write, found by an audit hook of Python."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

_watched: dict[int, list[list[str]]] = {}  # by thread
_listening = False


@contextmanager
def written() -> Iterator[list[str]]:
    """A context that yields a list of the paths of files that this thread opens to write, as they are opened."""
    _listen()
    paths: list[str] = []
    watches = _watched.setdefault(get_ident(), [])
    watches.append(paths)
    try:
        yield paths
    finally:
        watches[:] = [w for w in watches if w is not paths]


def sizes(paths: list[str]) -> dict[tuple[int, int], int]:
    """The sizes of the paths that are existing regular files, in bytes by device and inode."""
    found = {}
    for path in set(paths):
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            found[status.st_dev, status.st_ino] = status.st_size
    return found


def _listen() -> None:
    global _listening
    if not _listening:
        _listening = True
        sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open":
        return
    path, mode, flags = arguments
    writes = set(mode) & set("wax+") if isinstance(mode, str) else (flags or 0) & (os.O_WRONLY | os.O_RDWR)
    if writes and isinstance(path, (str, bytes, os.PathLike)):
        own = os.path.abspath(os.fsdecode(path))
        if own != os.devnull and f"{os.sep}__pycache__{os.sep}" not in own:  # written by an import
            for paths in _watched.get(get_ident(), ()):
                paths.append(own)
