"""The lesson's training with TensorFlow's and with Lightning's own means: real programs, and what they print.

    python -m lockstep.experiments.horovod.real_programs        runs both, and writes programs/*.json

Each program is a file in programs/, as a learner would write it: it imports nothing of Lockstep. It runs in the
environment of its framework (`lockstep with NAME`); where that is not set up, its recorded output is shown. Its rows
are those of ``task.Task``. The network has the same widths, with weights that each framework draws itself.

Sources, on tensorflow.org: api_docs/python/tf/distribute/MultiWorkerMirroredStrategy (its arguments, TF_CONFIG, "the
same program on each worker"), .../experimental/CommunicationOptions and CommunicationImplementation (AUTO, RING, NCCL;
the notes' CollectiveCommunication is its deprecated alias), tutorials/distribute/multi_worker_with_keras (the scope,
the batch of all workers). That it needs tf_keras since TensorFlow 2.16: keras-team/keras, #20585. On lightning.ai:
docs/pytorch (Trainer, its strategy "ddp").
"""

from __future__ import annotations

import json
import os
import platform
import socket
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lockstep.errors import LockstepError, TimeLimit
from lockstep.experiments.horovod.task import Task
from lockstep.installs import environments
from lockstep.installs.frameworks import LIGHTNING, TENSORFLOW, Framework
from lockstep.installs.side_by_side import Command, side_by_side
from lockstep.tally import counted

PROGRAMS = Path(__file__).parent / "programs"
RANKS = 2
TASK = Task(seed=3, ranks=RANKS, batch=2, steps=16, epochs=20, rate=1 / 512)  # as the programs say
LIMIT = 120.0  # seconds; on two cores that are free a program takes ten to twenty
BUSY = "This machine did not come to its end in time: run the cell again when less is at work here."


@dataclass(frozen=True)
class Recording:
    """What a program has printed, and where: the date, the number of cores, the versions of Python and the
    framework."""

    output: str
    made: dict[str, str | int]

    def __str__(self) -> str:
        at = ", ".join([f"{self.made['cores']} cores", f"Python {self.made['python']}", str(self.made["with"])])
        return f"Recorded on {self.made['date']} ({at})."


@dataclass(frozen=True)
class Program:
    """A program of two ranks, in the environment of its framework. ``commands``: which to run side by side."""

    of: Framework
    file: Path
    commands: Callable[[list[str]], list[Command]]

    @property
    def source(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def recorded(self) -> Path:
        return self.file.with_suffix(".json")

    def run(self, source: str = "", timeout: float = LIMIT) -> str:
        """Run the program, or another ``source`` in its place; what its ranks have printed, by rank.

        Raises WorldUnavailable where the framework is not set up, LockstepError with the reason if a rank failed, and
        TimeLimit when all processes have been ended."""
        interpreter = environments.require(self.of)
        with tempfile.TemporaryDirectory() as folder:
            x, y = TASK.data()
            np.savez(Path(folder, "rows.npz"), x=x.float().numpy(), y=y.float().numpy())
            Path(folder, self.file.name).write_text(source or self.source, encoding="utf-8")
            said = side_by_side(self.commands([str(interpreter), self.file.name]), Path(folder), timeout)
        return "\n".join(sorted(said.splitlines()))

    def recording(self) -> Recording:
        return Recording(**json.loads(self.recorded.read_text(encoding="utf-8")))

    def record(self) -> Path:
        """Run the program, and write what it prints. No host, no path."""
        made = {
            "date": date.today().isoformat(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "with": self._versions(),
        }
        self.recorded.write_text(json.dumps({"made": made, "output": self.run()}, indent=1) + "\n", encoding="utf-8")
        return self.recorded

    def _versions(self) -> str:
        torch = [f"torch {version('torch')}"] if self.of.uses_torch else []
        return ", ".join([f"{self.of.shown} {self.of.version}", *torch])


def _two_workers(program: list[str]) -> list[Command]:
    """TensorFlow's workers are programs that whoever starts them tells where the others are."""
    at = [f"127.0.0.1:{port}" for port in _free_ports(RANKS)]
    tasks = [{"cluster": {"worker": at}, "task": {"type": "worker", "index": index}} for index in range(RANKS)]
    return [Command(program, environments.surroundings() | {"TF_CONFIG": json.dumps(task)}) for task in tasks]


def _one_launcher(program: list[str]) -> list[Command]:
    """Lightning's rank 0 starts the others."""
    return [Command(program, environments.surroundings())]


def _free_ports(number: int) -> list[int]:
    with ExitStack() as open_ones:
        bound = [open_ones.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in bound]


TF_DISTRIBUTE = Program(TENSORFLOW, PROGRAMS / "tf_distribute.py", _two_workers)
LIGHTNING_DDP = Program(LIGHTNING, PROGRAMS / "lightning_ddp.py", _one_launcher)
BOTH = (TF_DISTRIBUTE, LIGHTNING_DDP)


def show_program(program: Program) -> None:
    """Print the program, and below it what its two ranks print: now, or, where its framework is not set up, as it was
    recorded, with a line that says so."""
    print(program.source)
    print(output(program))


def output(program: Program) -> str:
    """What the program prints when it runs here; or the recording, and why."""
    why = environments.missing(program.of)
    if environments.ready(program.of):
        try:
            (now,) = [one.run() for one in counted([program], f"{program.of.shown} trains", each=20.0)]
            return now
        except TimeLimit:
            why = BUSY
        except LockstepError as error:
            why = " ".join(str(error).split())
    found = program.recording()
    return f"{found} {why}\n{found.output}"


if __name__ == "__main__":
    for one in BOTH:
        print(one.record().read_text(encoding="utf-8"))
