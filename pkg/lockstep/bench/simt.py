"""The warp machine against numba's own CUDA simulator, on the kernels of the GPU unit.

The simulator runs every CUDA thread as a Python thread, and counts nothing. The machine runs a warp at a time, with all
the counting and checking of a lesson. CPU time is compared, since both run on one core at a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lockstep.bench.simt_kernels import Case, cases
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured, Size, interleaved
from lockstep.errors import WorldUnavailable
from lockstep.simt import launch

PROGRAM = Path(__file__).with_name("programs") / "with_cuda_simulator.py"
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 3, "full": 5}


def tables(size: Size) -> list[Table]:
    known = cases(size)
    with simulator(size) as ask:
        timed: list[Callable[[], Measured]] = []
        for name, case in known.items():
            timed += [partial(in_simulator, ask, name), partial(in_machine, name, case)]
        found = interleaved(timed, REPEATS[size])
    notes = [f"Medians of {REPEATS[size]} launches each, in turn. Ratio: the simulator's time by the machine's."]
    return [Table("simt: one launch on a processor", [row(name, case, found) for name, case in known.items()], notes)]


def row(name: str, case: Case, found: Measured) -> Row:
    simulated, ours = found[f"{name} simulated"], found[f"{name} machine"]
    return {
        "kernel": name,
        "grid": str(case.grid),
        "block": str(case.block),
        "simulator [ms]": simulated * 1e3,
        "machine [ms]": ours * 1e3,
        "ratio": simulated / ours,
    }


def in_machine(name: str, case: Case) -> Measured:
    arguments = case.arguments()
    begin = time.process_time()
    launch(case.kernel, case.grid, case.block, *arguments)
    return {f"{name} machine": time.process_time() - begin}


def in_simulator(ask: Callable[[str], float], name: str) -> Measured:
    return {f"{name} simulated": ask(name)}


@contextmanager
def simulator(size: Size) -> Iterator[Callable[[str], float]]:
    """A session of the simulator, which is a process of its own: numba chooses it when it is imported."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, str(PROGRAM), size]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as session:
        assert session.stdin is not None
        assert session.stdout is not None
        requests, answers = session.stdin, session.stdout

        def ask(name: str) -> float:
            requests.write(f"{name}\n")
            requests.flush()
            answer = answers.readline()
            if not answer:
                raise WorldUnavailable("numba's CUDA simulator has ended.", "Look at what it printed above.")
            return float(answer)

        try:
            yield ask
        finally:
            requests.close()
