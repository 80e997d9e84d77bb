"""``python -m lockstep.classical.audit.one_row NAME ROUNDS``: measures one row, alone in a fresh process.

Fresh, because pools of threads outlive the fit that started them, and because the settings that keep idle threads from
spinning are read when the libraries load. The last line printed is JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from lockstep.classical.audit.catalogue import Row, catalogue
from lockstep.classical.audit.named import named
from lockstep.classical.knobs import settle, turned
from lockstep.classical.usage import Usage, usage
from lockstep.errors import UsageError

WIDTH = 2  # the value of the one knob that is turned up


def measure(row: Row, rounds: int) -> dict[str, list[Usage]]:
    """``rounds`` measurements with each knob. A round takes every knob in turn, so that drift affects all alike."""
    subject = row.build()
    knobs = ["none", "openmp", "blas", *(["n_jobs"] if row.has_n_jobs else [])]
    runs: dict[str, list[Usage]] = {knob: [] for knob in knobs}
    for knob in knobs[::-1]:  # imports, pools of threads, loky's processes: all of that once, and not counted
        _once(subject.act, subject.make, knob)
    for _ in range(rounds):
        for knob in knobs:
            runs[knob].append(_once(subject.act, subject.make, knob))
    return runs


def _once(act: Any, make: Any, knob: str) -> Usage:
    with _one_knob(knob) as n_jobs:
        made = make(n_jobs)
        settle()
        return usage(lambda: act(made))


@contextmanager
def _one_knob(knob: str) -> Iterator[int]:
    with turned(WIDTH if knob == "openmp" else 1, WIDTH if knob == "blas" else 1):
        yield WIDTH if knob == "n_jobs" else 1


def main(name: str, rounds: int) -> None:
    warnings.simplefilter("ignore")
    try:
        row = named(name) if ":" in name else next(r for r in catalogue() if r.name == name)
        runs = measure(row, rounds)
    except UsageError as error:
        print(json.dumps({"problem": error.message, "remedy": error.remedy}))
        return
    measured = {knob: [asdict(u) for u in us] for knob, us in runs.items()}
    print(json.dumps({"name": row.name, "claim": row.claim, "has_n_jobs": row.has_n_jobs, "runs": measured}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
