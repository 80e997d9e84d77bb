"""Files that are written whole or not at all, and one sentence where that cannot be: a disk that is full, say."""

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
    """What was found could not be written down. What was there before still is."""


def replaced(file: Path, text: str) -> None:
    """Put ``text`` in the place of whatever the file held. Raises Unwritten where that cannot be."""
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
