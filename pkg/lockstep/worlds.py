"""run(): execute one function on many ranks, in a world: processes, a simulated cluster, or the ranks of a launcher.

    r = run(fn, x, ranks=4)                        processes of this machine
    r = run(fn, x, ranks=64, on="dgx-a100")        a simulation of 8 nodes with 8 A100 each
    r = run(fn, x, ranks=4, on="virtual")          a simulation of this machine
    r = run(fn, x)                                 under torchrun, srun, mpirun, horovodrun: this process is a rank

``fn`` calls plain ``torch.distributed`` and names no world, device or backend. Each rank gets its own copy of the
function, its closure and its arguments: the caller's objects never change, and ranks share only what they send.

(The module is not called run.py because ``lockstep.run`` would then be the module instead of the function.)
"""

from __future__ import annotations

import difflib
import importlib.util
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockstep import machines, races
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.backend_rules import find as find_rules
from lockstep.errors import RaceWarning, UsageError
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.launch import pickled as values
from lockstep.launch import processes
from lockstep.launch.interrupt import told_shortly
from lockstep.launch.job import INSIDE, Job
from lockstep.launchers import spmd
from lockstep.machines import Cluster
from lockstep.scripts.script import Script
from lockstep.this_machine import survey
from lockstep.this_machine.host import cores
from lockstep.virtual import nested_runs, run_virtual
from lockstep.virtual.cluster_process import PATIENCE

if TYPE_CHECKING:
    from lockstep.show.timeline import Timeline

WORLDS = ("processes", "virtual", "spmd")
MOST_VIRTUAL = 4096
TAG, LONG = "[default{}]:", 100_000_000  # of a script's lines, as torchrun's, and so many characters of them
SHARED = ("lockstep", "torch", "numpy")  # a process can have them only once


@dataclass(frozen=True, repr=False)
class Result(Outcome):
    """The result of a run: the value that each rank returned (``values``, by rank), the ``trace`` of its communication,
    its ``time`` in seconds (virtual seconds on the virtual cluster) and the ``memory`` of each rank."""

    def show(self) -> Timeline:
        """The timeline of this run, as a figure."""
        from lockstep.show.timeline import timeline

        return timeline(self)

    def __repr__(self) -> str:
        sent = len(self.trace.communication)
        where = self.trace.cluster or self.trace.world
        return f"Result({self.trace.ranks} ranks on {where}, {self.time * 1e3:.3g} ms, {sent} communications)"


@told_shortly()
def run(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int | None = None,
    on: str | Cluster | None = None,
    seed: int = 0,
    timeout: float = 60.0,
    fake: bool = False,
    rules: str | Rules = "rendezvous",
    ties: int | None = None,
    strict: bool = False,
    isolate: Sequence[str] = (),
    **kwargs: Any,
) -> Result:
    """Run ``fn(*args, **kwargs)`` on each of ``ranks`` ranks and return the values, the trace, the time and the memory.

    ranks: the number of ranks. Under a launcher it may be left out; if given, it must be the launcher's world size.
    on: "processes", "virtual", "spmd", the name of a cluster to simulate (``lockstep.machines.names()``), or a
        ``Cluster``. The default is "spmd" under a launcher and "processes" otherwise.
    seed: torch, numpy and random are seeded with ``seed + r`` on rank r.
    timeout: the limit for the whole run, in seconds of host time; on the virtual cluster, of those in which it has a
        core, and at most four times as long.
    fake: virtual only. Tensors have shapes but no data, so that models of any size can be simulated. Arguments may be
        on the "meta" device, and returned tensors are. A line that needs a tensor's value raises an error.
    rules: virtual only. The backend's semantics. "rendezvous": a send blocks until its receive is posted, as with gloo.
        "mpi": small sends are buffered. "nccl": small sends are buffered, tags are ignored, and operations that two
        ranks post to each other individually execute in order (``lockstep.comm.backend_rules`` has the sources).
    ties: virtual only. A seed for the order of ranks that act at the same virtual time. The result of a correct program
        does not depend on it.
    strict: virtual only. A race is an error: a tensor that is used before the asynchronous operation that has it was
        waited for, and an operation that nobody waits for. Buffers that only receive hold NaN until then.
        Otherwise a race is a ``RaceWarning``, and a sentence in the result's ``warnings``.
    isolate: virtual only. Installed packages that keep state of a rank, such as ["megatron"]: each rank imports its own
        copy, although ranks share a process. Your own modules are imported by each rank anyway.

    Raises UsageError for an invalid call, WorldUnavailable if this machine cannot provide the world, and a RunError if
    the run fails: Deadlock, Mismatch, Unmatched, Stuck, RankRaised, RankDied, TimeLimit, or, on the virtual cluster,
    OutOfMemory and Race.
    """
    check_callable(fn)
    if broker := nested_runs.broker():
        check_stock(on)
        on = on if isinstance(on, Cluster) or on in machines.names() else nested_runs.CLUSTER
    else:
        check_not_nested()
    check_world(on)
    world = choose_world(on)
    check_fake(fake, world)
    check_strict(strict, fake, world)
    chosen = check_rules(rules, ties, world)
    check_isolate(isolate)
    if world == "spmd":
        return _warned(
            _start(Job.pack(fn, args, kwargs, launched(ranks), seed=seed, timeout=timeout), world, chosen, ties)
        )
    job = Job.pack(
        fn, args, kwargs, check_ranks(ranks, world), seed=seed, timeout=timeout, fake=fake, strict=strict,
        isolate=tuple(isolate),
    )  # fmt: skip
    if broker:
        return _result(broker.run(job, the_cluster(on).name, chosen.name, ties))
    return _warned(_start(job, _where(world, on), chosen, ties))


def _warned(result: Result) -> Result:
    """Warn at the line that called ``run``: through ``run`` itself and its context."""
    for sentence in result.warnings:
        warnings.warn(sentence, RaceWarning, stacklevel=4)
    return result


def run_sealed(
    fn: Callable[..., bytes],
    *args: Any,
    own: Sequence[Any],
    on: str | Cluster | None = None,
    timeout: float = 60.0,
    rules: Rules = RENDEZVOUS,
    nests: bool = False,
    ours: bool = False,
    alone: bool = False,
) -> Result:
    """Run untrusted code: ``fn(*args, own[rank])`` on each of ``len(own)`` ranks, which get only their own entry.

    ``fn`` returns bytes, and nothing that a rank has made is unpickled here. ``nests``: on the virtual cluster ``fn``
    may call ``run``. ``ours``: only Lockstep's own code runs, in this process's world and never in a sandbox.
    ``alone``: what ``fn`` calls needs no group."""
    check_not_nested()
    check_world(on)
    pickled = {rank: values.packed(argument) for rank, argument in enumerate(own)}
    job = Job.pack(fn, args, {}, len(own), timeout=timeout, own=pickled, raw=True, nests=nests, alone=alone)
    world = choose_world(on)
    chosen, where = check_rules(rules, None, world), _where(world, on)
    return _result(carry_out(job, where, chosen, None)) if ours else _start(job, where, chosen, None)


def run_script(
    script: Script,
    ranks: int | None,
    on: str | Cluster | None,
    rules: str,
    timeout: float = math.inf,
    pretend_cuda: bool = False,
    strict: bool = False,
    isolate: Sequence[str] = (),
) -> Result:
    """Run ``script`` as the program of each of ``ranks`` ranks, on processes or on the virtual cluster. The values of
    the result are None. Raises what ``run`` raises; RankDied for an exit status that is not 0. By itself a script has
    as much time as it takes, as under torchrun. ``pretend_cuda``: torch.cuda has the GPUs of the simulated
    cluster. ``strict``, ``isolate``: as for ``run``."""
    check_not_nested()
    check_world(on)
    world = choose_world(on)
    check_launches(world)
    check_strict(strict, False, world)
    check_isolate(isolate)
    if pretend_cuda:
        check_gpus(on)
    job = Job.pack(
        script, (), {}, check_ranks(ranks, world), timeout=timeout, script=True, tag=TAG, output_limit=LONG,
        pretend_cuda=pretend_cuda, strict=strict, isolate=tuple(isolate),
    )  # fmt: skip
    chosen = check_rules(rules, None, world)
    return _start(job, _where(world, on), chosen, None)


Where = str | Cluster  # "processes", "spmd", or the cluster to simulate


def _where(world: str, on: str | Cluster | None) -> Where:
    return the_cluster(on) if world == "virtual" else world


def _start(job: Job, where: Where, rules: Rules, ties: int | None) -> Result:
    return _result((_carrier or carry_out)(job, where, rules, ties))


def carry_out(job: Job, where: Where, rules: Rules, ties: int | None) -> Outcome:
    """Run a job from this process."""
    if isinstance(where, Cluster):
        patience = job.timeout if job.script else PATIENCE  # a script may compute for long without torch
        return run_virtual(job, where, rules, ties, patience)
    return spmd.run_spmd(job) if where == "spmd" else processes.run_processes(job)


Carrier = Callable[[Job, Where, Rules, "int | None"], Outcome]
_carrier: Carrier | None = None
_loader: Callable[[Iterable[str]], None] | None = None


@contextmanager
def carried_by(carrier: Carrier, warm_up: Callable[[Iterable[str]], None] | None = None) -> Iterator[None]:
    """A context in which ``carrier`` executes every run of this process in place of ``carry_out``, for example in a
    sandbox that holds the ranks and their supervisor. ``warm_up``: loads modules there ahead of the first run, so that
    a measured run need not."""
    global _carrier, _loader
    before, _carrier, _loader = (_carrier, _loader), carrier, warm_up
    try:
        yield
    finally:
        _carrier, _loader = before


def warm_up(modules: Iterable[str]) -> None:
    """Do the slow preparation of a run ahead of time: load ``modules``, which ranks need, where runs are executed.
    Raises WorldUnavailable if that fails."""
    (_loader or starter.warm_up)(modules)


def check_world(on: str | Cluster | None) -> None:
    """Raise UsageError if ``on`` is neither a world nor a cluster; the message suggests what may be meant."""
    known = [*WORLDS, *machines.names()]
    if on is None or isinstance(on, Cluster) or on in known:
        return
    meant = [n for n in WORLDS if n.startswith(str(on).lower())] or difflib.get_close_matches(str(on).lower(), known, 3)
    guess = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""
    raise UsageError(
        f"There is no world {on!r}.{guess}",
        'on="processes" is this machine, "virtual" a simulation of it, "spmd" the ranks of a launcher, as torchrun; '
        f"or name a cluster to simulate: {', '.join(machines.names())}.",
    )


def choose_world(on: str | Cluster | None) -> str:
    if on is None:
        return "spmd" if spmd.detect() else "processes"
    if isinstance(on, Cluster) or on not in WORLDS:
        return "virtual"
    return on


def the_cluster(on: str | Cluster | None) -> Cluster:
    if isinstance(on, Cluster):
        return on
    if on == "virtual":
        return survey.survey()
    return machines.find(str(on))


def check_callable(fn: object) -> None:
    if not callable(fn):
        raise UsageError(
            f"run needs a function as its first argument, not {type(fn).__name__}.",
            "Write run(my_function, x, ranks=4): without parentheses after the function's name.",
        )


def check_fake(fake: bool, world: str) -> None:
    if fake and world != "virtual":
        raise UsageError(
            f'fake=True is for the virtual cluster: on="{world}" computes with real data.',
            'Name a cluster to simulate: on="dgx-a100", or on="virtual" for this machine.',
        )


def check_strict(strict: bool, fake: bool, world: str) -> None:
    if strict and (fake or world != "virtual"):
        where = "a run with fake=True has no data" if fake else f'on="{world}" nothing sees who uses a tensor'
        raise UsageError(
            f"strict=True is for the virtual cluster with data: {where}.",
            'Name a cluster to simulate: on="dgx-a100", or on="virtual" for this machine.',
        )


def check_gpus(on: str | Cluster | None) -> None:
    """Raise UsageError where there are no GPUs to pretend."""
    check_world(on)
    if choose_world(on) != "virtual" or not the_cluster(on).device.is_gpu:
        gpus = ", ".join(name for name in machines.names() if machines.find(name).device.is_gpu)
        raise UsageError("--pretend-cuda needs a cluster of GPUs to simulate.", f"Name one with --on: {gpus}.")


def check_stock(on: str | Cluster | None) -> None:
    """Raise UsageError for a modified cluster in a nested run, which can only send the cluster's name."""
    if isinstance(on, Cluster) and (on.name not in machines.names() or on != machines.find(on.name)):
        raise UsageError(
            f"Inside a check, run() simulates the machines that Lockstep knows by name, and no changed {on.name}.",
            f'Name one of them, on="{nested_runs.CLUSTER}", or leave `on` out.',
        )


def check_rules(rules: str | Rules, ties: int | None, world: str) -> Rules:
    chosen = find_rules(rules)
    if chosen != RENDEZVOUS and world != "virtual":
        raise UsageError(
            f'rules="{chosen.name}" is for the virtual cluster: real backends have rules of their own.',
            'Name a cluster to simulate: on="dgx-a100", or on="virtual" for this machine.',
        )
    if ties is not None and (isinstance(ties, bool) or not isinstance(ties, int) or world != "virtual"):
        raise UsageError(
            f"ties={ties!r} is no seed for the order of ranks on the virtual cluster.",
            'Write ties=1, say, with on="virtual", or leave it out.',
        )
    return chosen


def check_isolate(packages: Sequence[str]) -> None:
    """Raise UsageError unless ``packages`` lists importable packages that a process may load more than once."""
    if isinstance(packages, str) or not all(isinstance(name, str) for name in packages):
        raise UsageError(f"isolate is a list of packages, not {packages!r}.", 'Write isolate=["package"].')
    for name in packages:
        if name in SHARED or name in sys.stdlib_module_names:
            raise UsageError(f"isolate={list(packages)}: all ranks of a process share {name}.", "Leave it out.")
        if not is_package(name):
            remedy = 'Name whole packages, as in import package: isolate=["package"].'
            raise UsageError(f"isolate={list(packages)}: there is no package {name!r} here.", remedy)


def is_package(name: str) -> bool:
    """Whether ``name`` is an importable top-level package: "package", not "package.part"."""
    return name.isidentifier() and name != "__main__" and importlib.util.find_spec(name) is not None


def check_not_nested() -> None:
    if INSIDE in os.environ:
        raise UsageError(
            "run() was called by a rank of another run().", "Call run() outside, once, with all the ranks you need."
        )


def check_launches(world: str) -> None:
    """Raise UsageError for a script under a launcher, which has started the script's ranks, or would."""
    if world == "spmd":
        raise UsageError(
            "A script is started by its launcher: torchrun train.py.",
            "Leave lockstep out there. Without a launcher: lockstep run --ranks 4 train.py.",
        )


def check_ranks(ranks: int | None, world: str) -> int:
    most = MOST_VIRTUAL if world == "virtual" else max(16, 8 * cores().usable)
    if ranks is None:
        raise UsageError("run needs to know how many ranks.", "Write run(fn, ..., ranks=4).")
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise UsageError(f"ranks must be a whole number from 1 on, not {ranks!r}.")
    if ranks > most:
        advice = "" if world == "virtual" else ' Ask for them on the virtual cluster: on="virtual".'
        raise UsageError(f"{ranks:,} ranks are more than makes sense here: at most {most:,}.", advice.strip())
    return ranks


def launched(ranks: int | None) -> int:
    """The launcher's world size. Raises UsageError if ``ranks`` is given and differs, or if there is no launcher."""
    environment = spmd.detect()
    if environment is None:
        raise UsageError(
            'on="spmd" needs a launcher that has started the ranks.',
            "Start this file with torchrun --nproc-per-node 4 FILE, or leave `on` out.",
        )
    if ranks not in (None, environment.world_size):
        raise UsageError(
            f"ranks={ranks} differs from the {environment.world_size} ranks that {environment.launcher} has started.",
            "Leave `ranks` out: the launcher decides.",
        )
    return environment.world_size


def _result(outcome: Outcome) -> Result:
    facts = {name: getattr(outcome, name) for name in Outcome.__dataclass_fields__}
    return Result(**facts | {"warnings": (*outcome.warnings, *races.told(races.of(outcome.trace)))})
