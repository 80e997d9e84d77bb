"""One run on the virtual cluster: the ranks, their baton, the network, and what ends the run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from threading import get_ident
from typing import Any

from torch._C._distributed_c10d import HashStore

from lockstep import deadlock_report, places
from lockstep.comm import exits
from lockstep.comm.agreement import rank_state
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.operation import Operation
from lockstep.cost.jitter import Draws
from lockstep.errors import Exit, RunError, TimeLimit
from lockstep.events import POINT_TO_POINT, Memory, Trace
from lockstep.launch.job import Job
from lockstep.machines import Cluster
from lockstep.record.started_threads import Started
from lockstep.residency import Hooks, Residency
from lockstep.virtual import backend, rank
from lockstep.virtual.clock import Clock
from lockstep.virtual.ledger import Ledger
from lockstep.virtual.memory_limit import out_of_memory
from lockstep.virtual.network import NEVER, Network
from lockstep.virtual.random_streams import Streams
from lockstep.virtual.rank_states import RankStates
from lockstep.virtual.rank_threads import belonging, refusal
from lockstep.virtual.scheduler import Scheduler
from lockstep.virtual.watch import Watch

FRUITLESS_POLLS = 1000  # is_completed() in vain, by every rank that could still act, before it counts as a deadlock
POLL_COST = 1e-7  # virtual seconds of one is_completed()


class Simulation:
    """Runs a Job once. ``run`` returns the Outcome or raises a RunError; threads of a run that failed stay blocked,
    so a process should run one Simulation and end."""

    def __init__(self, job: Job, cluster: Cluster, rules: Rules = RENDEZVOUS, ties: int | None = None) -> None:
        self.job, self.cluster, self.rules, self.ranks = job, cluster, rules, job.ranks
        self.streams = Streams(job.ranks, job.seed)
        self.scheduler = Scheduler(job.ranks, self._stalled, self.streams.switch_to, ties)
        self.clock = self.scheduler.clock
        self.network = Network(job.ranks, cluster, rules, self.scheduler.wake)
        self.scheduler.agenda = self.network
        self.batches = [0] * job.ranks  # the number of the batch that each rank posts at the moment
        self._numbers = count(1)
        self._send, self._recv = (self._guarded(act) for act in (self.network.send, self.network.recv))
        self._join = self._guarded(self.network.join)
        self.store, self.pid, self._own = HashStore(), os.getpid(), [0] * job.ranks  # each rank's own thread
        self._goes_on = rules.eager < 0 and cluster.cores is None  # a rank that posts a message
        self._shares_cores, self._in_order = cluster.cores is not None, rules.in_order
        self._states = RankStates(self.scheduler)
        self._residency = [self._book_of(r) for r in range(job.ranks)]
        self._draws = [Draws(cluster.jitter, r) for r in range(job.ranks)] if cluster.jitter else None
        self._pace = [draws.compute() for draws in self._draws] if self._draws else [1.0] * job.ranks
        self._ledger = Ledger(job.ranks)
        self._values: list[bytes] = [b""] * job.ranks
        self._ended = threading.Event()
        self._error: RunError | None = None

    def run(self, patience: float) -> tuple[list[bytes], Trace, float, list[Memory]]:
        """What an Outcome is made of, the values pickled. ``patience``: seconds of host time that a rank may spend
        without any operation."""
        watch = Watch()
        for r in range(self.ranks):
            self._states.threads[r] = threading.Thread(target=self._live, args=(r,), name=f"rank {r}", daemon=True)
            self._states.threads[r].start()
        with Hooks(self._book), Started(self._around):
            self.scheduler.start()
            if late := watch.wait(self._ended, lambda: self.scheduler.operations, self.job.timeout, patience):
                self._give_up(*late)
        if self._error:
            raise self._error
        return self._values, self.trace(), max(self.scheduler.clock), [r.memory() for r in self._residency]

    # ---- what ranks do

    def new_operation(
        self,
        me: int,
        kind: str,
        nbytes: int,
        peer: int | None,
        group: tuple[int, ...],
        name: str,
        tag: int,
        tensors: Any,
    ) -> Operation:
        if get_ident() != self._own[me]:
            self._check_thread(me)
        self._residency[me].look()
        if not self._goes_on or kind not in POINT_TO_POINT:
            self.scheduler.pause(me)
        if self._states.asked:
            self._states.posted()
        now = self.scheduler.clock[me]
        operation = Operation(me, kind, now, nbytes, peer, group, name, tag, places.here(), next(self._numbers))
        operation.tensors = tensors
        if self._in_order:
            operation.batch = self.batches[me]
        if self._draws:
            self._pace[me], operation.stretch = self._draws[me].compute(), self._draws[me].message()
        self._ledger.post(operation)
        return operation

    @contextmanager
    def batch(self, me: int) -> Iterator[None]:
        """What the rank posts within it is one batch."""
        self.batches[me] = next(self._numbers)
        try:
            yield
        finally:
            self.batches[me] = 0

    def send(self, operation: Operation) -> None:
        """The rank may go on at once, except where that is seen: a sender that does not wait may change its tensor,
        and what is computed next may take the core from the message."""
        self.scheduler.act(operation.rank, self._send, operation)

    def recv(self, operation: Operation) -> None:
        self.scheduler.act(operation.rank, self._recv, operation)

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None:
        self._join(part, sequence, move)

    def wait(self, operation: Operation) -> None:
        me, before = operation.rank, self.scheduler.clock[operation.rank]
        was_over = operation.end is not None
        if not was_over:
            self._check_thread(me)
            self.scheduler.settle(lambda: operation.end is not None)
            if operation.end is None:
                operation.waiting = True
                self._states.waiting[me] = operation
                self.scheduler.block(me)
                del self._states.waiting[me]
        end = operation.end
        assert end is not None
        if end > before:
            self.scheduler.clock[me] = end
            operation.wait += end - before
        operation.awaited = True
        if not was_over and self._shares_cores:  # who is behind computes first
            self.scheduler.pause(me)

    def poll(self, operation: Operation) -> bool:
        """``is_completed()``: time passes until the next thing that can happen, and a little more each time."""
        me, clock = operation.rank, self.scheduler.clock
        self._check_thread(me)
        if operation.end is None:
            self.scheduler.ask(me)
        if operation.end is None or operation.end > clock[me]:
            self._states.asks(me, operation)
            self._give_up_if_all_poll()
            upcoming = self.scheduler.next_time()  # nothing can happen before
            if not clock[me] < upcoming < NEVER:
                upcoming = clock[me] + max(POLL_COST, 0.01 * (clock[me] - operation.posted))
            clock[me] = upcoming if operation.end is None else min(upcoming, operation.end)
            self.scheduler.ask(me)
        done = operation.end is not None and operation.end <= clock[me]
        operation.awaited = operation.awaited or done
        return done

    def _give_up_if_all_poll(self) -> None:
        alive = [r for r in range(self.ranks) if not self.scheduler.finished[r]]
        if self.network.moment < NEVER or any(map(self.scheduler.is_due, alive)):
            return
        if all(self._states.idles(r, FRUITLESS_POLLS) for r in alive):
            self._stalled()
            threading.Event().wait()

    def sleep(self, me: int, seconds: float) -> None:
        self.scheduler.advance(me, max(0.0, seconds))
        self.scheduler.pause(me)

    def _compute(self, me: int, name: str, seconds: float, flops: int) -> None:
        start = self.scheduler.clock[me]
        if self._shares_cores and self.network.moment <= start:  # what was posted before comes first on the cores
            self.scheduler.ask(me)
        self.scheduler.advance(me, self.network.cores.compute(me, start, seconds * self._pace[me]))
        self._ledger.book(me, name, start, self.scheduler.clock[me], flops)

    def _book_of(self, me: int) -> Residency:
        limit = self.cluster.memory_among(self.ranks, me)
        return Residency(partial(self.scheduler.clock.__getitem__, me), limit, partial(self._out_of_memory, me))

    def _book(self) -> Residency | None:
        me = rank.owner()
        return None if me is None else self._residency[me]

    def _around(self) -> AbstractContextManager[None]:
        """What is in force in a thread that is started."""
        me = rank.owner()
        return nullcontext() if me is None else belonging(self, self._residency[me], me)

    def _check_thread(self, me: int) -> None:
        """Only the rank's own thread has the baton to give away."""
        if get_ident() != self._own[me]:
            self._fail(refusal(me, self._states.place(me), self._states.others(me)))
            threading.Event().wait()

    # ---- a rank's life

    def _live(self, me: int) -> None:
        self._own[me] = get_ident()
        self.scheduler.begin(me)
        rank.become(me, self)
        try:
            backend.enter(self, me)
            self._values[me] = self._carry_out(me)
        except BaseException as error:
            self.scheduler.pause(me)  # a rank that is behind in virtual time may fail before
            self._fail(error if isinstance(error, RunError) else self._raised(me, error))
            return
        self.scheduler.finish(me)
        if all(self.scheduler.finished):
            self._complete()

    def _carry_out(self, me: int) -> bytes:
        """The rank's own copy of the function and its arguments in, its value out."""
        fn, args, kwargs = self.job.unpack(me)
        self._residency[me].adopt((fn, args, kwargs))
        with Clock(*self._clockwork(me)):
            value = fn(*args, **kwargs)
        return self.job.blob_of(value)

    def _clockwork(self, me: int) -> tuple[Any, ...]:
        """What a rank's Clock is made of."""
        spend, claim = partial(self._compute, me), partial(self.streams.claim, me)
        return self.cluster.device_among(self.ranks, me), self._residency[me], spend, claim

    # ---- how a run ends

    def _guarded(self, act: Callable[..., None]) -> Callable[..., None]:
        """A mismatch is the whole run's failure, not an exception that a learner's code may catch."""

        def guarded(*args: Any) -> None:
            try:
                act(*args)
            except RunError as error:
                self._fail(error)
                threading.Event().wait()

        return guarded

    def _out_of_memory(self, me: int, asked: int) -> None:
        """As a mismatch, no exception that a learner's code may catch."""
        place, limit = places.here(), self.cluster.memory_among(self.ranks, me)
        place = place if place.file else self._states.place(me)
        held = self._residency[me].held()
        self._fail(out_of_memory(me, place, held, asked, limit, self._states.others(me)))
        threading.Event().wait()

    def _complete(self) -> None:
        left = list(self.network.unmatched())
        if left:
            self._fail(deadlock_report.left_over(left[0].kind, [rank_state(o) for o in left]))
        self._ended.set()

    def _raised(self, me: int, error: BaseException) -> RunError:
        end = exits.raised(me, error)
        return exits.error(end, [exits.rank_state(end), *self._states.others(me)])

    def left(self, me: int, status: int) -> None:
        """The rank ends its process: no peer can go on without it."""
        end = Exit(me, "exited", status=status)
        self._fail(exits.error(end, [exits.rank_state(end, self._states.place(me)), *self._states.others(me)]))

    def _stalled(self) -> None:
        self._fail(deadlock_report.deadlock(self._states.all()))

    def _fail(self, error: RunError) -> None:
        if not self._ended.is_set():
            self._error = error
            error.trace = self.trace()
            self._ended.set()

    def _give_up(self, idle: float, stuck: bool) -> None:
        states = self._states.all()
        if stuck:
            self._fail(deadlock_report.idle(states[self.scheduler.running], idle, states))
        else:
            self._fail(TimeLimit(f"The run did not end within {self.job.timeout:.0f} s.", states))

    def trace(self) -> Trace:
        events, unequal = self._ledger.events(max(self.scheduler.clock)), self.cluster.differences(self.ranks)
        return Trace.of(events, self.ranks, "virtual", self.cluster.name, unequal)
