"""What becomes of a check that could not be carried out: a broken environment, a world that this machine cannot give.

A learner is told so, in the notebook. ``nbgrader validate`` gets an error. ``nbgrader autograde`` must not record a
score, and whatever a cell prints or raises is one: an error is 0, silence is full marks. What it does treat as a
failure to grade is a kernel that dies: `nbclient.exceptions.DeadKernelError` is raised before any grade of the
notebook is saved, and `nbgrader.converters.base.BaseConverter.convert_notebooks` removes the half-graded submission,
names the student and goes on with the next one. So under autograde the kernel ends itself, after saying why on
nbgrader's own terminal."""

from __future__ import annotations

import contextlib
import os
import sys

from lockstep.checks.observe import Ungraded
from lockstep.checks.score import Score
from lockstep.checks.seeds import under_autograde

EXIT_STATUS = 70  # EX_SOFTWARE of sysexits.h


def settle(score: Score) -> Score:
    """Pass a score on; an ungraded one only to a learner."""
    if score.verdict == "ungraded" and under_autograde():
        _end_kernel(f"lockstep: {score.text()}\nlockstep: the kernel ends itself, so that no score is recorded.\n")
    if score.verdict == "ungraded" and os.environ.get("NBGRADER_EXECUTION") == "validate":
        raise Ungraded(score.text())
    return score


def _end_kernel(message: str) -> None:
    """``fileno`` of a kernel's stderr is the terminal that the kernel was started from, not the notebook."""
    with contextlib.suppress(OSError, ValueError):
        os.write(sys.stderr.fileno(), message.encode())
    os._exit(EXIT_STATUS)
