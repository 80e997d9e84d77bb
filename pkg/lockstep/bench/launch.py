"""How long until a function of 4 ranks has its first result: an all-reduce of one number, on gloo.

All but torchrun start in a Python session that has torch imported, as a notebook has; torchrun has no such session, and
each of its ranks imports torch. The clock stops when rank 0 has the sum. lockstep's run() also returns the values, the
events and the memory of all ranks, and ends the ranks, in that time.

    cold      the first run() of a session: it starts the server, which imports torch
    notebook  the first run() of a fresh kernel, after a pause: its server was started when the kernel imported ``run``
    warm      a later run(), after a pause: its ranks were forked meanwhile, and have joined their group
    again     a run() that follows at once: its ranks are forked and join only then
    virtual   a later run() on the virtual cluster

A second table has the standard library's own fork server beside ours, with torch preloaded in both
(``programs/starts.py``): the first run of a session, runs that follow at once, the slowest of them (a stall), and runs
after a rest. Processor time counts what spares cost, too, which wait for a run after a rest.

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
from statistics import median
from typing import Any

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured, Size, interleaved
from lockstep.distribution import install
from lockstep.errors import WorldUnavailable

RANKS: Mapping[Size, int] = {"quick": 2, "normal": 4, "full": 4}
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 3, "full": 7}
INNER = 5  # warm and virtual runs in a session
AT_ONCE: Mapping[Size, int] = {"quick": 2, "normal": 30, "full": 30}  # runs one after another in a session
LIMIT = 180.0  # seconds for a program

PROGRAMS = Path(__file__).with_name("programs")
LABELS = {
    "torchrun": "torchrun --standalone",
    "spawn": "torch.multiprocessing.spawn",
    "ipyparallel": "ipyparallel.Cluster",
    "cold": "lockstep.run, cold",
    "notebook": "lockstep.run, first of a notebook",
    "warm": "lockstep.run, warm",
    "again": "lockstep.run, at once again",
    "virtual": "lockstep.run, virtual",
}
KINDS = {"first": "first", "at once": "at once", "worst": "slowest at once", "rested": "after a rest"}


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
        notes.append(f"ipyparallel is not installed ({install('bench')}): it was not measured.")
    found = interleaved(cases, REPEATS[size])
    notes.append(f"The first run of a notebook takes {found['notebook'] / found['cold']:.2f} of a cold one's time.")
    rows = [row(name, found) for name in LABELS if name in found]
    return [Table(f"launch: the first result of {ranks} ranks", rows, notes), beside_forkserver(size)]


def beside_forkserver(size: Size) -> Table:
    """Runs of one session each, in turn: ours and the standard library's."""
    ranks, runs = RANKS[size], AT_ONCE[size]
    cases = [partial(started_by, how, ranks, runs) for how in ("lockstep", "forkserver")]
    found = interleaved(cases, REPEATS[size])
    rows = [beside(label, kind, found) for kind, label in KINDS.items()]
    notes = [f"Medians of {REPEATS[size]} sessions each, in turn. CPU: of all processes, the rest after a run, too."]
    return Table(f"launch: {ranks} ranks beside multiprocessing's forkserver", rows, notes)


def started_by(how: str, ranks: int, runs: int) -> Measured:
    told = printed_by([str(PROGRAMS / "starts.py"), how, str(ranks), str(runs)], PROGRAMS.parents[2], LIMIT)
    wall = {f"{how} {kind}": median(phase["seconds"]) for kind, phase in told.items()}
    cpu = {f"{how} {kind} CPU": phase["cpu"] for kind, phase in told.items()}
    return {**wall, **cpu, f"{how} worst": max(told["at once"]["seconds"])}


def beside(label: str, kind: str, found: Measured) -> Row:
    ours, other = found[f"lockstep {kind}"], found[f"forkserver {kind}"]
    cpu = [found.get(f"{how} {kind} CPU") for how in ("lockstep", "forkserver")]
    return {
        "run": label,
        "lockstep [ms]": ours * 1e3,
        "forkserver [ms]": other * 1e3,
        "ratio": ours / other,
        "lockstep CPU [ms]": cpu[0] * 1e3 if cpu[0] else "",
        "forkserver CPU [ms]": cpu[1] * 1e3 if cpu[1] else "",
    }


def row(name: str, found: Measured) -> Row:
    return {
        "started by": LABELS[name],
        "wall [ms]": found[name] * 1e3,
        "ratio to torchrun": found[name] / found["torchrun"],
        "speedup": found["torchrun"] / found[name],
    }


def torchrun(ranks: int) -> Measured:
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return measured_by([*command, str(PROGRAMS / "with_torchrun.py"), str(time.monotonic())])


def session(program: str, *arguments: int) -> Measured:
    return measured_by([str(PROGRAMS / program), *map(str, arguments)])


def measured_by(arguments: list[str]) -> Measured:
    """The measurements that a program, run by this Python, printed as its last line: {name: seconds}."""
    measured: Measured = printed_by(arguments, PROGRAMS.parents[2], LIMIT)
    return measured


def printed_by(arguments: list[str], pkg: Path, limit: float) -> Any:
    """The JSON that a program printed as its last line, run by this Python with the Lockstep in ``pkg``."""
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
