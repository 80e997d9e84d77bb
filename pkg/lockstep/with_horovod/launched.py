"""Runs ``horovodrun``: each rank is a program of its own, as on a cluster.

horovodrun("script.py", "--epochs", "2", ranks=2).output      [0]<stdout>:rank 0 of 2 ...
called(function, 3, ranks=2)                                  [function(3) on rank 0, function(3) on rank 1]
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import cloudpickle
import psutil

from lockstep.errors import LockstepError, TimeLimit
from lockstep.with_horovod.available import require
from lockstep.with_horovod.timeline import Timeline, read

GRACE = 5.0  # seconds that horovodrun gets to end its ranks itself
CALL = """
import cloudpickle, horovod, sys
function, args, ranks = cloudpickle.load(open(sys.argv[1], "rb"))
values = horovod.run(function, args, num_proc=ranks)
cloudpickle.dump(values, open(sys.argv[2], "wb"))
"""


@dataclass(frozen=True)
class Launched:
    """The output of a launcher and its ranks, in the order in which it came; each line of a rank begins with its
    number, as in "[1]<stdout>:". ``status`` is 0 if every rank ended well. ``timeline``: empty if not requested."""

    output: str
    status: int
    timeline: Timeline = field(default_factory=list)

    def __str__(self) -> str:
        return self.output


def horovodrun(
    *program: str,
    ranks: int,
    timeline: bool = False,
    settings: Mapping[str, object] | None = None,
    timeout: float = 60.0,
) -> Launched:
    """Run ``horovodrun -np RANKS python PROGRAM ...``, with this interpreter: ``program`` is a script and its
    arguments, or "-m" and a module.

    settings: Horovod's own, as in ``run_horovod``.

    Raises WorldUnavailable where Horovod is missing; TimeLimit after ``timeout`` seconds, when all processes have been
    ended."""
    require()
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "timeline.json")
        options = ["--timeline-filename", str(written)] if timeline else []
        command = [sys.executable, "-m", "horovod.runner.launch", "-np", str(ranks), *options, sys.executable, *program]
        done = _ended(command, settings or {}, timeout)
        return Launched(done.output, done.status, read(written) if timeline and written.exists() else [])


def called(function: Callable[..., Any], *args: Any, ranks: int, timeout: float = 60.0) -> list[Any]:
    """Call ``horovod.run(function, args, np=ranks)`` in a process of its own; what each rank returned, by rank. A
    function of a notebook is pickled by value.

    Raises the errors of ``horovodrun``, and LockstepError with the ranks' output if one of them failed."""
    require()
    with tempfile.TemporaryDirectory() as folder:
        given, returned = Path(folder, "call"), Path(folder, "values")
        given.write_bytes(cloudpickle.dumps((function, args, ranks)))
        done = _ended([sys.executable, "-c", CALL, str(given), str(returned)], {}, timeout)
        if done.status:
            raise LockstepError(f"A rank that horovod.run had started failed.\n{done.output}")
        values: list[Any] = cloudpickle.loads(returned.read_bytes())
        return values


def _ended(command: list[str], settings: Mapping[str, object], timeout: float) -> Launched:
    """Run a launcher to its end. Its ranks are in sessions of their own, so that ending the launcher alone would not
    end them."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, env=_environment(settings), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            said = _text(output)
            _end(process)
            raise TimeLimit(
                f"{timeout:g} s were over before all ranks had ended. They had written:\n{said or '(nothing)'}",
                remedy="Does each rank come to its end? If so, give them longer with timeout=seconds.",
            ) from None
        except BaseException:
            _end(process)
            raise
        return Launched(_text(output), status)


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminate the launcher first, then kill all processes that it had started."""
    family: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(family, timeout=GRACE)
    for member in alive:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    process.kill()
    process.wait()


def _environment(settings: Mapping[str, object]) -> dict[str, str]:
    """This process's environment without the variables of another launcher's rank, and with this package on
    PYTHONPATH."""
    here = {name: value for name, value in os.environ.items() if not name.startswith("HOROVOD_")}
    found = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return here | {"PYTHONPATH": found} | {name: str(value) for name, value in settings.items()}
