"""Runs commands of Lockstep's, one after the other, in a process that can be lost: what each said, and how it ended."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LIMIT = 120.0  # seconds for a check, which gives up by itself long before; then it hangs
MEMORY = 6 << 30  # bytes of a process
TRACEBACK = "Traceback (most recent call last)"
ENDS = (0, 1, 2, 3)  # exit codes that the command line promises


@dataclass(frozen=True)
class Ended:
    """``code``: the exit code; None where it hung or died. ``escaped``: the traceback that nobody caught."""

    code: int | None
    said: str
    escaped: str = ""

    def fault(self) -> str:
        """What is wrong with it, in a word; empty for a quiet end."""
        if self.code is None:
            return self.escaped
        if self.escaped or TRACEBACK in self.said:
            return "a traceback"
        if self.code not in ENDS:
            return f"exit code {self.code}"
        return "" if self.said.strip() else "nothing is said"


class Commands:
    """``environment``: what the commands see in addition."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._process: multiprocessing.process.BaseProcess | None = None
        self._conn: Connection | None = None

    def run(self, arguments: Sequence[str], folder: Path, limit: float = LIMIT) -> Ended:
        process, conn = self._running()
        with tempfile.TemporaryFile() as said:
            conn.send((list(arguments), str(folder), os.getpid(), said.fileno()))
            try:
                if not conn.poll(limit):
                    return Ended(None, self._lose(said.fileno()), "a hang")
                code, escaped = conn.recv()
            except (EOFError, OSError):
                process.join(5)
                return Ended(None, self._lose(said.fileno()), f"its process ended, with {process.exitcode}")
            return Ended(code, _text(said.fileno()), escaped)

    def close(self) -> None:
        if self._conn:
            self._conn.close()
        if self._process:
            self._process.join(10)
            self._lose()

    def _running(self) -> tuple[multiprocessing.process.BaseProcess, Connection]:
        if self._process is None or self._conn is None or not self._process.is_alive():
            context = multiprocessing.get_context("fork")
            self._conn, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._conn, self.environment))
            self._process.start()
            theirs.close()
        return self._process, self._conn

    def _lose(self, said: int | None = None) -> str:
        """End it, with all that it has started; what it had said."""
        if self._process and self._process.pid and self._process.is_alive():
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
        self._process = None
        return "" if said is None else _text(said)


def _text(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, 1 << 20).decode(errors="replace")


def _serve(conn: Connection, other: Connection, environment: dict[str, str]) -> None:
    other.close()
    os.setsid()
    os.environ.update(environment)
    tempfile.tempdir = environment["TMPDIR"]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    while True:
        try:
            arguments, folder, asker, said = conn.recv()
        except EOFError:
            return
        with open(f"/proc/{asker}/fd/{said}", "ab") as file:
            for own in (1, 2):
                os.dup2(file.fileno(), own)
        os.chdir(folder)
        with open(1, "w", closefd=False) as out, open(2, "w", closefd=False) as err:
            sys.stdout, sys.stderr = out, err  # those of whoever has forked this may go elsewhere
            ended = _ended(arguments)
        conn.send(ended)


def _ended(arguments: Sequence[str]) -> tuple[Any, str]:
    """The exit code, and what nobody has caught."""
    from lockstep.cli import main

    try:
        return main(arguments), ""
    except SystemExit as end:  # of argparse
        return end.code, ""
    except BaseException:
        return 1, traceback.format_exc()
