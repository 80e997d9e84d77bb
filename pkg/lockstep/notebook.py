"""What a notebook's kernel does when it first takes ``run`` or ``check`` from the package.

It starts the server of ranks, which loads torch while the learner reads on; and from then on it says what to do where a
cell asks for a check of a function that this kernel does not know, as after a restart.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Any

from lockstep.forking import starter
from lockstep.launchers.detection import detect

UNDEFINED = "{name} is not defined in this kernel. Run the cell that defines it, then this one."


def begin() -> None:
    """In a kernel: have all that is said above; in one that is a rank of a launcher, no server. Elsewhere: nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return
    with suppress(ValueError):  # a launcher's variables that make no sense: run says so
        if detect() is None and starter.forks():
            starter.begin()
    if _after_a_cell not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _after_a_cell)


def _after_a_cell(result: Any) -> None:
    """IPython's event: a cell has run, and what it raised is shown already."""
    if told := advice(getattr(result.info, "raw_cell", ""), result.error_in_exec):
        print(told)


def advice(cell: str, error: BaseException | None) -> str:
    """What to do when a cell has asked for a check of a name that means nothing; "" for all else."""
    if not isinstance(error, NameError) or not error.name:
        return ""
    asked = re.search(rf"^check\(.*, {re.escape(error.name)}\b", cell, re.MULTILINE)
    return UNDEFINED.format(name=error.name) if asked else ""
