"""SimGrid as a peer of the virtual cluster: it simulates Python programs, too.

Its ranks are threads that exchange messages through mailboxes, and its network is shared by flows. A message is a
Python object, not a tensor; nothing is computed, traced or returned. Casanova et al., "Versatile,
scalable, and accurate simulation of distributed applications and platforms", JPDC 2014.

On PyPI it comes as source only, which takes half an hour to compile (4.1). Debian has it compiled (3.32), for the
system's own Python: ``apt install python3-simgrid``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured

PROGRAM = Path(__file__).with_name("programs") / "with_simgrid.py"
LIMIT = 300.0  # seconds


@cache
def python() -> str | None:
    """A Python that has SimGrid: this one, or the system's."""
    pythons = (sys.executable, "/usr/bin/python3")
    return next((p for p in pythons if os.path.exists(p) and _run(p, "-c", "import simgrid") is not None), None)


def case(ranks: int, wanted: int) -> Measured:
    """Seconds of a message, in a run of at least ``wanted``; empty where there is no SimGrid."""
    printed = (where := python()) and _run(where, str(PROGRAM), str(ranks), str(-(-wanted // ranks)))
    found: dict[str, float] = json.loads(printed.splitlines()[-1]) if printed else {}
    return {f"SimGrid {ranks} {what}": seconds for what, seconds in found.items()}


def table(ranks: Sequence[int], found: Mapping[str, float]) -> Table:
    """``found``: what ``case`` has measured, and "ring of messages" of the virtual cluster."""
    rows = [row(K, found) for K in ranks if f"SimGrid {K} cpu" in found]
    notes = ["SimGrid's messages are Python objects: no tensor, no sum, no trace. Ours are torch's isend and irecv."]
    if not rows:
        rows = [{"ranks": K, "lockstep: CPU [µs]": found[f"ring of messages {K} cpu"] * 1e6} for K in ranks]
        notes = ["SimGrid is not installed (Debian: apt install python3-simgrid): it was not measured."]
    return Table("virtual: a ring of messages, beside SimGrid", rows, notes)


def row(K: int, found: Mapping[str, float]) -> Row:
    mine, peer = f"ring of messages {K}", f"SimGrid {K}"
    return {
        "ranks": K,
        "lockstep: CPU [µs]": found[f"{mine} cpu"] * 1e6,
        "SimGrid: CPU [µs]": found[f"{peer} cpu"] * 1e6,
        "ratio of CPU": found[f"{mine} cpu"] / found[f"{peer} cpu"],
        "lockstep: wall [µs]": found[f"{mine} wall"] * 1e6,
        "SimGrid: wall [µs]": found[f"{peer} wall"] * 1e6,
        "ratio of wall": found[f"{mine} wall"] / found[f"{peer} wall"],
    }


def _run(*command: str) -> str | None:
    """What a command prints, None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd="/", check=True)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout
