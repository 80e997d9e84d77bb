"""The audit: which estimators of scikit-learn run in parallel on this machine, how, and whether the notes are right.

``names()`` lists the rows of the lecture notes' table; ``audit(names)`` measures them one after the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from lockstep.classical.audit.catalogue import catalogue
from lockstep.classical.audit.verdict import Verdict, decide
from lockstep.classical.knobs import SLEEPING
from lockstep.classical.usage import Usage
from lockstep.errors import LockstepError, UsageError
from lockstep.tally import counted

LIMIT = 300.0  # seconds for one row, on a very busy machine

__all__ = ["NotMeasured", "Verdict", "audit", "measured", "names", "select"]


class NotMeasured(LockstepError):
    """The process that measures a row failed, or exceeded its time."""


def names() -> list[str]:
    """The rows of the notes' table, one for each estimator and algorithm."""
    return [row.name for row in catalogue()]


def select(wanted: Iterable[str]) -> list[str]:
    """The names of rows by name or prefix ("KNeighbors"), all if none is given; ``MODULE:CLASS`` stays as it is. Raises
    UsageError for an unknown one."""
    known, found = names(), []
    for name in wanted:
        fitting = [name] if ":" in name or name in known else [k for k in known if k.lower().startswith(name.lower())]
        if not fitting:
            remedy = f"Choose among: {', '.join(known)}; or name a class, as in sklearn.svm:SVC."
            raise UsageError(f"The audit has no row {name!r}.", remedy)
        found += fitting
    return list(dict.fromkeys(found)) or known


def audit(wanted: Iterable[str] = (), rounds: int = 3) -> Iterator[Verdict]:
    """The verdict on each row as soon as it is measured, about 5 s each. Without names, on all rows.

    More ``rounds`` make the shares more exact, and quiet moments, which a speed-up needs, more likely."""
    for name in counted(select(wanted), "Measuring", each=5.0 * rounds / 3):
        yield measured(name, rounds)


def measured(name: str, rounds: int = 3) -> Verdict:
    """The verdict on one row, measured in a fresh process. Raises UsageError for what cannot be fitted."""
    found = _in_child(name, rounds)
    if "problem" in found:
        raise UsageError(found["problem"], found["remedy"])
    runs = {knob: [Usage(**u) for u in us] for knob, us in found["runs"].items()}
    return decide(found["name"], runs, found["has_n_jobs"], found["claim"])


def _in_child(name: str, rounds: int) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "lockstep.classical.audit.one_row", name, str(rounds)]
    environment = {**os.environ, **SLEEPING, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise NotMeasured(f"{name} was not measured within {LIMIT:.0f} s.", "Is the machine very busy?") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise NotMeasured(f"{name} could not be measured: {said}", "Try to fit it by hand.")
    found: dict[str, Any] = json.loads(lines[-1])
    return found
