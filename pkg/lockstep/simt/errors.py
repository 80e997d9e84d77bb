"""The error of a kernel that the warp machine cannot run, with its line."""

from __future__ import annotations

from lockstep.errors import LockstepError


class KernelError(LockstepError):
    """A kernel that no GPU could run as it is written, or that the machine does not support.

    ``line``: the line's number in the file or the cell that has the kernel; 0 if no line is to blame. ``function``: the
    device function that it belongs to; "" for the kernel itself."""

    def __init__(self, message: str, remedy: str = "", line: int = 0, function: str = "") -> None:
        place = f"Line {line} of {function}" if function else f"Line {line}"
        super().__init__(f"{place}: {message}" if line else message, remedy)
        self.line = line
