"""Atomic writes: a file is replaced whole or not at all. If that fails (a full disk), the error is one sentence."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from lockstep.checks.wording import printable
from lockstep.errors import LockstepError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
ROOM = "Make room on its disk. Nothing is lost: run it again, and it goes on where it was."
RIGHTS = "Look who may write there. Nothing is lost: run it again, and it goes on where it was."


class Unwritten(LockstepError):
    """A file could not be written. What it held before is still there."""


def write_atomically(file: Path, text: str) -> None:
    """Replace the file's content by ``text``, by a temporary file that is renamed. Raises Unwritten if that fails."""
    coming = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        coming.write_text(text, encoding="utf-8", newline="")
        os.replace(coming, file)
    except OSError as error:
        with contextlib.suppress(OSError):
            coming.unlink()
        raise unwritten(file, error) from None


def unwritten(file: Path, error: OSError) -> Unwritten:
    remedy = ROOM if error.errno in NO_ROOM else RIGHTS
    return Unwritten(printable(f"{file} could not be written: {error.strerror or error}."), remedy)
