"""Nested runs: run() called by a rank, for exercises in which the learner's function is itself a test.

The rank's process does not start ranks; it sends a request to the process that has started it.

::

    check ──(1) the job, which may nest──▶ rank ──▶ the learner's test, which calls run(fn, ranks=4)
      ▲                                                        │
      └──(2) the inner job, as bytes ──────────────────────────┘
      ──(3) starts the inner ranks, and returns their answer, still pickled ──▶

So no process that runs a learner's code starts others, and the check unpickles nothing that it has made. Nested runs
are always on a virtual cluster, where nothing depends on the load of this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from lockstep import machines
from lockstep.comm.backend_rules import find as find_rules
from lockstep.events import Outcome
from lockstep.launch import pickled
from lockstep.launch.job import Job

CLUSTER = "dgx-a100"  # the default


class Asked(NamedTuple):
    """The request for a nested run, as plain data."""

    blob: bytes
    ranks: int
    seed: int
    timeout: float
    fake: bool
    strict: bool
    cluster: str
    rules: str
    ties: int | None


@dataclass
class Broker:
    """The rank's side. ``begins``: called before each run."""

    conn: Connection
    begins: Callable[[], None] = lambda: None
    waits: bool = False  # for a run, which has limits of its own

    def run(self, job: Job, cluster: str, rules: str, ties: int | None) -> Outcome:
        """As ``run_virtual``. Raises the RunError that ended the inner run."""
        asked = Asked(job.blob, job.ranks, job.seed, job.timeout, job.fake, job.strict, cluster, rules, ties)
        self.begins()
        self.waits = True
        try:
            self.conn.send(("run", tuple(asked)))
            kind, content = self.conn.recv()
        finally:
            self.waits = False
        if kind == "failed":
            raise content
        told, trace, time, memory = content
        return Outcome(
            [pickled.loads(blob, rank) for rank, blob in enumerate(told)],
            trace,
            time,
            [m.peak for m in memory],
            "",
            memory=memory,
        )


_broker: Broker | None = None  # in a process that may ask


def allow(conn: Connection) -> None:
    """Let ``run`` in this process send its requests over ``conn``."""
    global _broker
    _broker = Broker(conn)


def tell(begins: Callable[[], None]) -> None:
    """Call ``begins`` before each nested run of this process, if it may ask for any."""
    if _broker:
        _broker.begins = begins


def broker() -> Broker | None:
    return _broker


def under_way() -> bool:
    """Whether this process waits for a nested run."""
    return _broker is not None and _broker.waits


def inner(outer: Job, asked: Any) -> tuple[Job, machines.Cluster, Any, int | None]:
    """The job, cluster, rules and ties of a request. Raises an error if ``run`` cannot have sent it."""
    wish = Asked(*asked)
    job = replace(
        outer,
        blob=bytes(wish.blob),
        ranks=int(wish.ranks),
        seed=int(wish.seed),
        timeout=min(float(wish.timeout), outer.timeout),
        fake=bool(wish.fake),
        strict=bool(wish.strict),
        own=None,
        raw=False,
        nests=False,
    )
    return job, machines.find(str(wish.cluster)), find_rules(str(wish.rules)), wish.ties
