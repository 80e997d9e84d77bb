"""Which kind of sandbox this machine allows: found out by making one."""

from __future__ import annotations

import os

from lockstep.errors import WorldUnavailable
from lockstep.grading import sandbox
from lockstep.grading.sandbox import BUBBLEWRAP, FORK
from lockstep.grading.sandbox_host import Sandbox
from lockstep.grading.sandbox_view import view


def kind_of_sandbox(wanted: str | None = None) -> str:
    """``wanted``, or by itself the first that works. Raises WorldUnavailable, in one sentence, where none does."""
    if wanted == BUBBLEWRAP:
        _check_bubblewrap()
        return BUBBLEWRAP
    try:
        _check_fork()
    except WorldUnavailable as refused:
        if wanted == FORK:
            raise
        try:
            _check_bubblewrap()
        except WorldUnavailable:
            raise refused from None
        return BUBBLEWRAP
    return FORK


def _check_bubblewrap() -> None:
    one = Sandbox(view(), BUBBLEWRAP)
    try:
        one.warm_up()
    finally:
        one.close()


def _check_fork() -> None:
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(ours)
            sandbox.enter(view(), sandbox.Limits(), kept=[theirs])
            status = 0
        except WorldUnavailable as error:
            os.write(theirs, f"{error.message}\n{error.remedy}".encode())
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours, "rb") as said:
        message, _, remedy = said.read().decode(errors="replace").partition("\n")
    _, status = os.waitpid(pid, 0)
    if status:
        raise WorldUnavailable(message or "This machine allows no sandbox.", remedy or sandbox.UNSAFE)
