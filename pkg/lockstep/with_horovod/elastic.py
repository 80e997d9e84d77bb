"""Elastic Horovod for real, in seconds: a worker killed by SIGKILL, another one added, each at a step of a script.

Horovod's own ElasticDriver and rendezvous decide who is in the job. ``horovodrun`` starts its workers as new programs,
which takes seconds each. Here they are forked from one process that has loaded everything, before it starts any thread,
and wait for their environment::

    the job's process ── ElasticDriver, rendezvous ── a thread for each worker: receives its events, waits for its end
        └─ fork ── worker 0, worker 1, ...            elastic_worker.py

Each worker is a host of its own, since Horovod does not reuse a host on which a worker failed. A worker is killed when
it first reaches a given batch, and one is added when any worker first reaches one: that worker waits until rank 0
knows.

Horovod 0.28 leaves its connections open when it is initialised again. After a kill, a rank that happens to wait for a
survivor, and not for the dead worker, would notice only after HOROVOD_GLOO_TIMEOUT_SECONDS, 30. Here a worker that has
noticed closes its connections, so that the others notice at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partialmethod
from http.server import HTTPServer
from multiprocessing.connection import Connection, Pipe
from typing import Any

import cloudpickle

from lockstep.errors import Exit, RankRaised, TimeLimit
from lockstep.forking import starter
from lockstep.with_horovod.available import MODULES, require
from lockstep.with_horovod.elastic_worker import Batches, Event, Script, Worker, become
from lockstep.with_horovod.ranks import LOOPBACK
from lockstep.worlds import run

ELASTIC = (*MODULES, "horovod.runner.elastic.driver", "horovod.runner.elastic.rendezvous")
POLL = 0.01  # seconds between two looks for new hosts, and for the end: Horovod's own is 1
GRACE = 2.0  # seconds that a worker gets to report where it was when its time was up
BEHIND = 4.0  # seconds without an event, after which those that have not returned with the others never will


@dataclass(frozen=True)
class Account:
    """What happened in an elastic job, in the order in which it was reported. ``values``: by worker, of those that
    returned. ``overdue``: by worker, where those were that had not finished when the time was up."""

    events: list[Event]
    values: dict[int, Any]
    overdue: dict[int, str]
    noise: str = ""  # what Horovod's driver wrote to stderr

    def of(self, *what: str) -> list[Event]:
        return [event for event in self.events if event["what"] in what]


def run_elastic(
    fn: Callable[..., Any],
    batches: Sequence[Any],
    *args: Any,
    workers: int,
    kill: Mapping[int, int] | None = None,
    add: int | None = None,
    timeout: float = 30.0,
) -> Account:
    """Run ``fn(batches, *args)`` on ``workers`` elastic workers, where Horovod is initialised already.

    kill: {1: 5} ends worker 1 by SIGKILL when it first takes ``batches[5]``.
    add: when ``batches[add]`` is first taken, one more worker joins; Horovod notifies the others at their next commit.

    The account has an event, a dict with "seconds", "worker" and "what", for each of these:

        started     "rank", "size"; of a worker that is added later, too
        step        "step", "rank", "size": a batch was taken
        commit      state.commit() was called
        updated     Horovod said, by HostsUpdatedInterrupt, that hosts have changed
        failed      Horovod said, by HorovodInternalError, that a worker is gone: the state is restored
        reset       "rank", "size": Horovod was initialised again
        killed, added, returned

    Raises RankRaised with the line on which ``fn`` raised, TimeLimit with where the workers were, and WorldUnavailable
    where Horovod is missing.
    """
    require()
    starter.warm_up(ELASTIC)
    script, blob = Script(workers, dict(kill or {}), add), cloudpickle.dumps((fn, list(batches), args))
    outcome = run(_job, blob, script, timeout, ranks=1, on="processes", timeout=timeout + 5 * GRACE)
    account: Account = outcome.values[0]
    if account.overdue:
        stood = [f"  worker {worker} stood at {where}" for worker, where in sorted(account.overdue.items())]
        raise TimeLimit("\n".join([f"The elastic job did not end within {timeout:g} seconds.", *stood]))
    return account


def _job(blob: bytes, script: Script, timeout: float) -> Account:
    fn, batches, args = cloudpickle.loads(blob)
    return elastic_job(lambda worker: fn(Batches(batches, worker), *args), script, timeout)


def elastic_job(live: Callable[[Worker], Any], script: Script, timeout: float) -> Account:
    """Run ``live`` on each worker, which are forks of this process: call it while there is no other thread.

    Raises RankRaised as soon as any of them has raised; it does not raise when the time is up."""
    pool = Pool(script, timeout)
    with contextlib.redirect_stderr(io.StringIO()) as noise, pool.forked(live), _driver(pool) as driver:
        driver.start(script.workers, pool.work)
        pool.wait(driver)
    if pool.raised:
        worker, end = pool.raised.rank, pool.raised
        raise RankRaised(f"worker {worker} raised {end.exception}: {end.message}\n{end.told}", exit=end)
    return Account(pool.events, pool.values, pool.overdue, noise.getvalue())


class Pool:
    """The workers, each a fork that waits for its environment; their reports; and the hosts, as Horovod's driver
    discovers them."""

    def __init__(self, script: Script, timeout: float) -> None:
        self.script, self.began, self.until = script, time.monotonic(), time.monotonic() + timeout
        self.events: list[Event] = []
        self.values: dict[int, Any] = {}
        self.overdue: dict[int, str] = {}
        self.raised: Exit | None = None
        self.environment: dict[str, str] = {}
        self._at_work: set[int] = set()
        self._ended: dict[int, int] = {}  # by worker, its exit status
        self._pids: list[int] = []
        self._pipes: list[Connection] = []
        self._lock, self._over = threading.RLock(), False
        self._known, self._wanted, self._told = 0, script.workers, threading.Event()

    @contextlib.contextmanager
    def forked(self, live: Callable[[Worker], Any]) -> Iterator[None]:
        """Context in which there are the workers; afterwards there is none."""
        sys.stdout.flush()
        try:
            for number in range(self.script.most):
                ours, theirs = Pipe()
                self._pipes.append(ours)
                self._pids.append(
                    os.fork() or become(Worker(number, theirs, self.script), self._pipes, self.until, live)
                )
                theirs.close()
            yield
        finally:
            self.end()
            for pipe in self._pipes:
                pipe.close()

    @property
    def well(self) -> bool:
        """Whether all workers have ended, and by themselves."""
        return not self.raised and self._at_work <= self._ended.keys()

    def end(self) -> None:
        """Kill all workers, and let no thread wait for one."""
        self._over = True
        self._told.set()
        for worker in range(len(self._pids)):
            self._reap(worker, kill=True)

    # ---- for Horovod's driver

    def find_available_hosts_and_slots(self) -> dict[str, int]:
        """The hosts, for Horovod's driver: one more in each call, since several new ones would get their ranks in the
        order of a set. When the driver asks again, it has announced the previous ones to rank 0."""
        if self._known == self.script.most:
            self._told.set()
        self._known = min(self._known + 1, self._wanted)
        return {str(worker): 1 for worker in range(self._known)}

    def work(self, slot: Any, _: Any) -> tuple[int, float]:
        """In a thread: let the worker of this slot work, and receive its reports until it ends."""
        number = int(slot.hostname)
        with self._lock:
            if self._over:
                return 1, time.time()
            self._at_work.add(number)
        with contextlib.suppress(EOFError, OSError):
            self._pipes[number].send(self.environment | place(slot))
            while True:
                self._hear(number, *self._pipes[number].recv())
        return self._reap(number), time.time()

    def _hear(self, worker: int, what: str, facts: Any) -> None:
        with self._lock:
            if what == "printed":
                sys.stdout.write(facts)
            elif what == "value":
                self.values[worker] = cloudpickle.loads(facts)
            elif what == "raised":
                self.raised = self.raised or facts
            elif what == "overdue":
                self.overdue[worker] = facts
            elif what != "waits":
                self.events.append({"seconds": time.monotonic() - self.began, "worker": worker, "what": what, **facts})
            elif self._wanted < self.script.most:
                self._wanted = self.script.most
                self._hear(self._wanted - 1, "added", {})
        if what == "waits":
            self._told.wait()
            self._pipes[worker].send(None)

    def _reap(self, worker: int, kill: bool = False) -> int:
        with self._lock:
            if worker not in self._ended:
                if kill:
                    os.kill(self._pids[worker], signal.SIGKILL)
                _, status = os.waitpid(self._pids[worker], 0)
                self._ended[worker] = os.waitstatus_to_exitcode(status)
            return self._ended[worker]

    def wait(self, driver: Any) -> None:
        """Wait until all workers have ended, or one has raised, or the time is up."""
        while not self.raised and time.monotonic() < self.until + GRACE:
            with self._lock:
                left = self._at_work - self._ended.keys()
                last = self.events[-1]["seconds"] + self.began if self.events else self.began
            if not left and self._at_work and driver.finished():
                return
            if self.values and time.monotonic() > last + BEHIND:
                break
            time.sleep(POLL)
        if not self.raised:
            for worker in self._at_work - self._ended.keys():
                self.overdue.setdefault(
                    worker,
                    "a place that is not known, when the others had returned"
                    if self.values
                    else "a place that is not known",
                )


@contextlib.contextmanager
def _driver(pool: Pool) -> Iterator[Any]:
    """Context with Horovod's own driver and its rendezvous. Afterwards none of their threads is left."""
    from horovod.runner.elastic import driver as drivers
    from horovod.runner.elastic.rendezvous import create_rendezvous_handler
    from horovod.runner.http.http_server import RendezvousHTTPServer, RendezvousServer

    threads = threading.enumerate()
    drivers.DISCOVER_HOSTS_FREQUENCY_SECS = POLL  # in this process, which ends with its job
    RendezvousHTTPServer.serve_forever = partialmethod(HTTPServer.serve_forever, POLL)
    rendezvous = RendezvousServer(0)
    driver = drivers.ElasticDriver(rendezvous, pool, 1, pool.script.most, timeout=max(1, int(pool.until - pool.began)))
    try:
        port = rendezvous.start(create_rendezvous_handler(driver))
        pool.environment = {
            "HOROVOD_ELASTIC": "1",
            "HOROVOD_GLOO_RENDEZVOUS_ADDR": LOOPBACK,
            "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
            "HOROVOD_CONTROLLER": "gloo",
            "HOROVOD_CPU_OPERATIONS": "gloo",
            "HOROVOD_GLOO_IFACE": "lo",
        }
        yield driver
    finally:
        patience = GRACE if pool.well else 0.0
        driver.stop()
        pool.end()
        late = set(threading.enumerate()) - set(threads)
        for seconds in (patience, GRACE):
            for thread in late:
                thread.join(seconds)
            if driver._worker_registry._barrier:  # who still waits there waits for a worker that will not come
                driver._worker_registry._barrier.abort()
        rendezvous._httpd.server_close()


def place(slot: Any) -> dict[str, str]:
    """The environment variables by which a worker knows its place at first. Later it asks the rendezvous."""
    names = ("hostname", "rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
    return {f"HOROVOD_{name.upper()}": str(getattr(slot, name)) for name in names}
