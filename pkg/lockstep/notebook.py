"""Setup of a notebook's kernel, when it first imports ``run`` or ``check`` from the package.

It starts the fork server, which loads torch in the background; and it registers a hook that explains the NameError of a
cell that checks a function which is not defined in this kernel, as after a restart.
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
    """Set up this process if it is a notebook's kernel. A kernel that is a launcher's rank gets no fork server."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return
    with suppress(ValueError):  # a launcher's variables are invalid: run reports it
        if detect() is None and starter.forks():
            starter.begin()
    if _after_a_cell not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", _after_a_cell)


def _after_a_cell(result: Any) -> None:
    """IPython's post_run_cell event. The cell's exception has been shown already."""
    if told := advice(getattr(result.info, "raw_cell", ""), result.error_in_exec):
        print(told)


def advice(cell: str, error: BaseException | None) -> str:
    """Advice for a cell that has checked an undefined name; "" for any other error."""
    if not isinstance(error, NameError) or not error.name:
        return ""
    asked = re.search(rf"^check\(.*, {re.escape(error.name)}\b", cell, re.MULTILINE)
    return UNDEFINED.format(name=error.name) if asked else ""
