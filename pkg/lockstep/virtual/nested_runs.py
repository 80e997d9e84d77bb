"""run() inside a rank, for a learner's function that is itself a test: it asks whoever has started its process.

::

    check ──(1) the job, which may nest──▶ rank ──▶ the learner's test, which calls run(fn, ranks=4)
      ▲                                                        │
      └──(2) the inner job, as bytes ──────────────────────────┘
      ──(3) starts the inner ranks, and hands back what they told, unopened ──▶

So nothing is started by a process that a learner's code runs in, and nothing that it has made is opened by the check.
Inner runs are always on a virtual cluster, on which nothing depends on what else this machine does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from lockstep import machines
from lockstep.comm.backend_rules import find as find_rules
from lockstep.events import Outcome
from lockstep.launch import pickled
from lockstep.launch.job import Job

CLUSTER = "dgx-a100"  # where no other one is named


class Asked(NamedTuple):
    """The inner run, in plain data."""

    blob: bytes
    ranks: int
    seed: int
    timeout: float
    fake: bool
    cluster: str
    rules: str
    ties: int | None


@dataclass(frozen=True)
class Broker:
    """The rank's side."""

    conn: Connection

    def run(self, job: Job, cluster: str, rules: str, ties: int | None) -> Outcome:
        """As ``run_virtual``. Raises the RunError that ended the inner run."""
        asked = Asked(job.blob, job.ranks, job.seed, job.timeout, job.fake, cluster, rules, ties)
        self.conn.send(("run", tuple(asked)))
        kind, content = self.conn.recv()
        if kind == "failed":
            raise content
        told, trace, time, memory = content
        return Outcome([pickled.loads(v) for v in told], trace, time, [m.peak for m in memory], "", memory=memory)


_broker: Broker | None = None  # in a process that may ask


def allow(conn: Connection) -> None:
    """From now on ``run`` in this process asks the other end of ``conn``."""
    global _broker
    _broker = Broker(conn)


def broker() -> Broker | None:
    return _broker


def inner(outer: Job, asked: Any) -> tuple[Job, machines.Cluster, Any, int | None]:
    """What is to be started. Raises an error for what a learner's process cannot have sent by ``run``."""
    wish = Asked(*asked)
    job = replace(
        outer,
        blob=bytes(wish.blob),
        ranks=int(wish.ranks),
        seed=int(wish.seed),
        timeout=min(float(wish.timeout), outer.timeout),
        fake=bool(wish.fake),
        own=None,
        raw=False,
        nests=False,
    )
    return job, machines.find(str(wish.cluster)), find_rules(str(wish.rules)), wish.ties
