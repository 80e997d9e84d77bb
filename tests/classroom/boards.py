"""A board that runs, as a teacher starts it: a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Board:
    """``address`` with its token, as it is printed; ``url`` without it."""

    def __init__(self, process: subprocess.Popen[str], said: str) -> None:
        self.process, self.said = process, said
        self.address = re.search(r"http://\S+", said)[0]  # type: ignore[index]
        self.url, _, self.token = self.address.partition("?token=")

    def place(self, path: str) -> str:
        return f"{self.url}{path}?token={self.token}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def start(keep: Path, *options: str, port: int = 0) -> Board:
    """Started, and listening."""
    command = [sys.executable, "-m", "lockstep", "board", "--keep", str(keep), "--port", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=keep.parent, env=os.environ)
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "Ctrl-C" in line:
            return Board(process, said)
    process.wait()
    raise AssertionError(f"`lockstep board` ended: {said}")


@contextmanager
def board(keep: Path, *options: str) -> Iterator[Board]:
    running = start(keep, *options)
    try:
        yield running
    finally:
        running.process.terminate()
        assert running.process.wait(60) == 0
