"""run(): one function on many ranks, in whichever world. (Not run.py: a module `lockstep.run` would hide the function.)

    r = run(fn, x, ranks=4)                        processes of this machine
    r = run(fn, x, ranks=64, on="dgx-a100")        a simulation of 8 nodes with 8 A100 each
    r = run(fn, x, ranks=4, on="virtual")          a simulation of this machine
    r = run(fn, x)                                 under torchrun, srun, mpirun, horovodrun: this process is a rank

``fn`` calls plain ``torch.distributed``; nothing in it names a world, a device or a backend. It is copied to every
rank with what it closes over and its arguments: the caller's objects never change, and ranks share nothing unless
they send it.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lockstep import machines
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.backend_rules import find as find_rules
from lockstep.errors import UsageError
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.launch import pickled as values
from lockstep.launch import processes
from lockstep.launch.interrupt import told_shortly
from lockstep.launch.job import INSIDE, Job
from lockstep.launchers import spmd
from lockstep.machines import Cluster
from lockstep.this_machine import survey
from lockstep.this_machine.host import cores
from lockstep.virtual import nested_runs, run_virtual

if TYPE_CHECKING:
    from lockstep.show.timeline import Timeline

WORLDS = ("processes", "virtual", "spmd")
MOST_VIRTUAL = 4096
SHARED = ("lockstep", "torch", "numpy")  # a process can have them only once


@dataclass(frozen=True, repr=False)
class Result(Outcome):
    """What every rank returned (``values``, by rank) and what happened (``trace``, ``time``, ``memory``)."""

    def show(self) -> Timeline:
        """The timeline of this run."""
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
    isolate: Sequence[str] = (),
    **kwargs: Any,
) -> Result:
    """Run ``fn(*args, **kwargs)`` on each of ``ranks`` ranks.

    on: "processes", "virtual", "spmd", or the name of a cluster (``lockstep.machines.names()``) to simulate. The
        default is "spmd" under a launcher and "processes" otherwise.
    seed: rank r starts with torch, numpy and random seeded with ``seed + r``.
    timeout: seconds of host time for the whole run.
    fake: virtual only: tensors have shapes and no data, so that models of any size can be simulated. Arguments may be
        on the "meta" device, and returned tensors are. A line that needs a tensor's value cannot run.
    rules: virtual only: what a program may rely on. "rendezvous": a send waits for its receiver, as on gloo. "mpi":
        small sends do not. "nccl": nor do they there, tags do not count, and what two ranks post singly to each other
        is carried out in order (``lockstep.comm.backend_rules`` has them all, with sources).
    ties: virtual only: a seed. Ranks that act at the same virtual time do so in another order; a right program gives
        the same result.
    isolate: installed packages of which each rank has a copy of its own on the virtual cluster, where ranks share a
        process, because they keep a rank's state: ["megatron"]. Of your own modules each rank has a copy anyway.

    Raises UsageError for a call that makes no sense, WorldUnavailable when this machine cannot do it, and a RunError
    (Deadlock, Mismatch, Unmatched, Stuck, RankRaised, RankDied, TimeLimit, on the virtual cluster OutOfMemory) for a
    run that did not end well.
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
    chosen = check_rules(rules, ties, world)
    check_isolate(isolate)
    if world == "spmd":
        return _start(Job.pack(fn, args, kwargs, launched(ranks), seed=seed, timeout=timeout), on, chosen, ties)
    job = Job.pack(
        fn, args, kwargs, check_ranks(ranks, world), seed=seed, timeout=timeout, fake=fake, isolate=tuple(isolate)
    )
    if broker:
        return _result(broker.run(job, the_cluster(on).name, chosen.name, ties))
    return _start(job, on, chosen, ties)


def run_sealed(
    fn: Callable[..., bytes],
    *args: Any,
    own: Sequence[Any],
    on: str | Cluster | None = None,
    timeout: float = 60.0,
    rules: Rules = RENDEZVOUS,
    nests: bool = False,
    ours: bool = False,
) -> Result:
    """``fn(*args, own[rank])`` on each of ``len(own)`` ranks, none of which gets what is another one's. It returns
    bytes, which come back as they are: nothing that a rank has made is unpickled here. ``nests``: on the virtual
    cluster it may call ``run``. ``ours``: nothing but Lockstep's own code is run, and nobody else carries it out."""
    check_not_nested()
    check_world(on)
    pickled = {rank: values.packed(argument) for rank, argument in enumerate(own)}
    job = Job.pack(fn, args, {}, len(own), timeout=timeout, own=pickled, raw=True, nests=nests)
    chosen = check_rules(rules, None, choose_world(on))
    return _result(carry_out(job, on, chosen, None)) if ours else _start(job, on, chosen, None)


def _start(job: Job, on: str | Cluster | None, rules: Rules, ties: int | None) -> Result:
    return _result((_carrier or carry_out)(job, on, rules, ties))


def carry_out(job: Job, on: str | Cluster | None, rules: Rules, ties: int | None) -> Outcome:
    """Run a job in the world that ``on`` names, of this process."""
    world = choose_world(on)
    if world == "spmd":
        return spmd.run_spmd(job)
    if world == "processes":
        return processes.run_processes(job)
    return run_virtual(job, the_cluster(on), rules, ties)


Carrier = Callable[[Job, "str | Cluster | None", Rules, "int | None"], Outcome]
_carrier: Carrier | None = None
_loader: Callable[[Iterable[str]], None] | None = None


@contextmanager
def carried_by(carrier: Carrier, warm_up: Callable[[Iterable[str]], None] | None = None) -> Iterator[None]:
    """Within it, ``carrier`` carries out every run of this process, in place of ``carry_out``: elsewhere, as in a
    sandbox that holds ranks and whoever looks after them. ``warm_up``: what it would do at its first run, whoever
    measures a run can have done before."""
    global _carrier, _loader
    before, _carrier, _loader = (_carrier, _loader), carrier, warm_up
    try:
        yield
    finally:
        _carrier, _loader = before


def warm_up(modules: Iterable[str]) -> None:
    """What takes long before a run and is no part of it is done now: ``modules``, which ranks need, are loaded where
    runs are carried out. Raises WorldUnavailable where that fails."""
    (_loader or starter.warm_up)(modules)


def check_world(on: str | Cluster | None) -> None:
    """UsageError if ``on`` is neither a world nor a cluster; it names both, and what may be meant."""
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


def check_stock(on: str | Cluster | None) -> None:
    """UsageError for a cluster of one's own where clusters travel by name."""
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
    """UsageError for what is no list of packages that can be imported, or that a process can have only once."""
    if isinstance(packages, str) or not all(isinstance(name, str) for name in packages):
        raise UsageError(f"isolate is a list of packages, not {packages!r}.", 'Write isolate=["package"].')
    for name in packages:
        if name in SHARED or name in sys.stdlib_module_names:
            raise UsageError(f"isolate={list(packages)}: all ranks of a process share {name}.", "Leave it out.")
        if not is_package(name):
            remedy = 'Name whole packages, as in import package: isolate=["package"].'
            raise UsageError(f"isolate={list(packages)}: there is no package {name!r} here.", remedy)


def is_package(name: str) -> bool:
    """Whether ``import name`` finds something, as a whole: "package", not "package.part"."""
    return name.isidentifier() and name != "__main__" and importlib.util.find_spec(name) is not None


def check_not_nested() -> None:
    if INSIDE in os.environ:
        raise UsageError(
            "run() was called by a rank of another run().", "Call run() outside, once, with all the ranks you need."
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
    """The launcher's world size, which ``ranks`` must agree with if it is given."""
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
    return Result(**{name: getattr(outcome, name) for name in Outcome.__dataclass_fields__})
