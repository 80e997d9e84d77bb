"""How long until a function of 4 ranks has its first result: an all-reduce of one number, on gloo.

All but torchrun start in a Python session that has torch imported, as a notebook has; torchrun has no such session, and
each of its ranks imports torch. The time goes on until rank 0 has the sum. lockstep's run() also brings the values, the
events and the memory of all ranks back, and ends the ranks, in that time.

    cold      the first run() of a session: it starts the server, which imports torch
    notebook  the first run() of a fresh kernel, after a pause: its server was started when the kernel took ``run``
    warm      a later run(), after a pause: its ranks were forked ahead meanwhile, and have joined each other
    again     a run() that follows at once: its ranks are forked now, and join now
    virtual   a later run() on the virtual cluster

Where the time of a warm run goes, in processor time, on two cores that others used, too (2026-11): four ranks 13.2 ms
(each 3.3: its job and the signal to begin 1.2, opening the function 0.6, the function with its first recorded operation
1.2, its value 0.3), the notebook 4.5 (pickling 1.4, asking 0.7, messages 1.1, the journals' folder, the trace, ending),
the server 0.7. Only the ranks' part has both cores: 11 ms at least.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured, Size, interleaved
from lockstep.errors import WorldUnavailable

RANKS: Mapping[Size, int] = {"quick": 2, "normal": 4, "full": 4}
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 3, "full": 7}
INNER = 5  # warm and virtual runs in a session
LIMIT = 180.0  # seconds for a program

PROGRAMS = Path(__file__).with_name("programs")
TOLD = {
    "torchrun": "torchrun --standalone",
    "spawn": "torch.multiprocessing.spawn",
    "ipyparallel": "ipyparallel.Cluster",
    "cold": "lockstep.run, cold",
    "notebook": "lockstep.run, first of a notebook",
    "warm": "lockstep.run, warm",
    "again": "lockstep.run, at once again",
    "virtual": "lockstep.run, virtual",
}


def tables(size: Size) -> list[Table]:
    ranks = RANKS[size]
    cases: list[Callable[[], Measured]] = [
        partial(torchrun, ranks),
        partial(session, "with_spawn.py", ranks),
        partial(session, "in_lockstep.py", ranks, 1 if size == "quick" else INNER),
        partial(session, "in_notebook.py", ranks),
    ]
    notes = [f"Medians of {REPEATS[size]} sessions each, in turn; speedup: the time of torchrun by that of the row."]
    if importlib.util.find_spec("ipyparallel"):
        cases.append(partial(session, "with_ipyparallel.py", ranks))
    else:
        notes.append("ipyparallel is not installed (pip install 'lockstep[bench]'): it was not measured.")
    found = interleaved(cases, REPEATS[size])
    notes.append(f"The first run of a notebook takes {found['notebook'] / found['cold']:.2f} of a cold one's time.")
    return [
        Table(f"launch: the first result of {ranks} ranks", [row(name, found) for name in TOLD if name in found], notes)
    ]


def row(name: str, found: Measured) -> Row:
    return {
        "started by": TOLD[name],
        "wall [ms]": found[name] * 1e3,
        "ratio to torchrun": found[name] / found["torchrun"],
        "speedup": found["torchrun"] / found[name],
    }


def torchrun(ranks: int) -> Measured:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return told_by([*command, str(PROGRAMS / "with_torchrun.py"), str(time.monotonic())])


def session(program: str, *arguments: int) -> Measured:
    return told_by([str(PROGRAMS / program), *map(str, arguments)])


def told_by(arguments: list[str]) -> Measured:
    """What a program of this Python printed as its last line: {name: seconds}."""
    told: Measured = said_by(arguments, PROGRAMS.parents[2], LIMIT)
    return told


def said_by(arguments: list[str], pkg: Path, limit: float) -> Any:
    """The JSON that a program of this Python printed as its last line, with the Lockstep that lies in ``pkg``."""
    path = os.pathsep.join(filter(None, [str(pkg), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=limit, env=environment, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or "it told nothing").splitlines()[-1]
        raise WorldUnavailable(f"{Path(arguments[0]).name} failed on this machine: {said}") from None
    except subprocess.TimeoutExpired:
        raise WorldUnavailable(f"{Path(arguments[0]).name} had no result within {limit:.0f} s.") from None
