"""One run on the virtual cluster: it connects ranks, scheduler, clocks and network, and decides how the run ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from threading import get_ident
from typing import Any

from torch._C._distributed_c10d import HashStore

from lockstep import deadlock_report, places, races
from lockstep.comm import exits
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.comm.mismatch import rank_state
from lockstep.comm.operation import Operation
from lockstep.cost.contention import Draws
from lockstep.errors import Exit, RunError, TimeLimit
from lockstep.events import POINT_TO_POINT, Memory, Trace
from lockstep.launch.job import Job
from lockstep.machines import Cluster
from lockstep.record.limited_waits import NEVER
from lockstep.record.started_threads import Started
from lockstep.residency import Hooks, Residency
from lockstep.virtual import backend, nested_runs, rank_threads
from lockstep.virtual.clock import Clock
from lockstep.virtual.errands import Errands
from lockstep.virtual.event_log import EventLog
from lockstep.virtual.in_flight import Flights
from lockstep.virtual.network import Network
from lockstep.virtual.out_of_memory import out_of_memory
from lockstep.virtual.process_state import ProcessState
from lockstep.virtual.random_streams import Streams
from lockstep.virtual.rank_states import RankStates
from lockstep.virtual.rank_threads import belonging, refusal
from lockstep.virtual.scheduler import Scheduler
from lockstep.virtual.supervisor import Watch
from lockstep.virtual.timeouts import Patience

FRUITLESS_POLLS = 1000  # unsuccessful is_completed() on every rank that could still act, before it is a deadlock
POLL_COST = 1e-7  # virtual seconds of one is_completed()


class Simulation:
    """Runs a Job once. ``run`` returns the parts of an Outcome or raises a RunError. Threads of a failed run stay
    blocked, so a process should run one Simulation and end, by ``os._exit``. (They are no daemons, since threads that
    a rank starts would be so, too.) ``book``: of a rank's memory."""

    book: type[Residency] = Residency

    def __init__(self, job: Job, cluster: Cluster, rules: Rules = RENDEZVOUS, ties: int | None = None) -> None:
        self.job, self.cluster, self.rules, self.ranks = job, cluster, rules, job.ranks
        self.streams = Streams(job.ranks, job.seed)
        self.process = ProcessState(job.ranks, job.script)
        self.scheduler = Scheduler(job.ranks, self._stalled, self._switch_to, ties)
        self.clock = self.scheduler.clock
        self.network = Network(job.ranks, cluster, rules, self.scheduler.wake)
        self.scheduler.agenda = self.network
        self.batches = [0] * job.ranks  # the number of the batch that each rank is posting
        self._numbers = count(1)
        self._send, self._recv = (self._guarded(act) for act in (self.network.send, self.network.recv))
        self._join = self._guarded(self.network.join)
        self.store, self.pid, self._own = HashStore(), os.getpid(), [0] * job.ranks  # each rank's own thread
        self._goes_on = rules.eager < 0 and cluster.cores is None  # whether a rank that posts a message keeps the baton
        self._shares_cores, self._in_order = cluster.cores is not None, rules.in_order
        self.withholds, self.strict = not job.fake, job.strict
        self.errands = [Errands() for _ in range(job.ranks)]
        self.flights = [Flights(self._race) for _ in range(job.ranks)]
        self._states = RankStates(self.scheduler)
        self._residency = [self._book_of(r) for r in range(job.ranks)]
        self._draws = [Draws(cluster.jitter, r) for r in range(job.ranks)] if cluster.jitter else None
        self._pace = [draws.compute() for draws in self._draws] if self._draws else [1.0] * job.ranks
        self._log = EventLog(job.ranks)
        self.posted = self._log.operations
        self._values: list[bytes] = [b""] * job.ranks
        self._ended = threading.Event()
        self._error: RunError | None = None

    def run(self, patience: float) -> tuple[list[bytes], Trace, float, list[Memory]]:
        """The pickled values, trace, time and memory of the run. ``patience``: seconds of host time that a rank may
        spend without any operation."""
        watch = Watch()
        for r in range(self.ranks):
            self._states.threads[r] = threading.Thread(target=self._live, args=(r,), name=f"rank {r}", daemon=False)
            self._states.threads[r].start()
        with Hooks(self._book), Started(self._around):
            self.scheduler.start()
            if late := watch.wait(self._ended, self._progress, self.job.timeout, patience):
                self._give_up(*late)
        if self._error:
            raise self._error
        return self._values, self.trace(), max(self.scheduler.clock), [r.memory() for r in self._residency]

    def _progress(self) -> float:
        """A number that changes as long as the run goes on: with each operation, while a value is pickled, and while a
        rank waits for a run of its own."""
        goes_on = self._states.returning or nested_runs.under_way()
        return time.monotonic() if goes_on else self.scheduler.operations

    # ---- operations of ranks

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
        place = places.here()
        if get_ident() != self._own[me]:
            post = partial(self._post, me, kind, nbytes, peer, group, name, tag, tensors, place)
            made: Operation = self._ask(me, post, place)
            return made
        return self._post(me, kind, nbytes, peer, group, name, tag, tensors, place)

    def _post(
        self,
        me: int,
        kind: str,
        nbytes: int,
        peer: int | None,
        group: tuple[int, ...],
        name: str,
        tag: int,
        tensors: Any,
        place: places.Place,
    ) -> Operation:
        self._residency[me].look()
        if not self._goes_on or kind not in POINT_TO_POINT:
            self.scheduler.pause(me)
        if self._states.asked:
            self._states.posted()
        now = self.scheduler.clock[me]
        operation = Operation(me, kind, now, nbytes, peer, group, name, tag, place, next(self._numbers))
        operation.tensors = tensors
        if self._in_order:
            operation.batch = self.batches[me]
        if self._draws:
            self._pace[me], operation.stretch = self._draws[me].compute(), self._draws[me].message()
        self._log.post(operation)
        return operation

    @contextmanager
    def batch(self, me: int) -> Iterator[None]:
        """A context whose operations form one batch."""
        self.batches[me] = next(self._numbers)
        try:
            yield
        finally:
            self.batches[me] = 0

    def send(self, operation: Operation) -> None:
        """Post a send. The rank keeps the baton, except where that would be observable: after a buffered send it may
        modify its tensor, and its next computation may take the core that the message needs."""
        self._act(self._send, operation)

    def recv(self, operation: Operation) -> None:
        self._act(self._recv, operation)

    def _act(self, effect: Callable[[Operation], None], operation: Operation) -> None:
        me = operation.rank
        if get_ident() != self._own[me]:
            self._ask(me, partial(self.scheduler.act, me, effect, operation), operation.place)
        else:
            self.scheduler.act(me, effect, operation)

    def join(self, part: Operation, sequence: int, move: Callable[[list[Operation]], None]) -> None:
        if get_ident() != self._own[part.rank]:
            self._ask(part.rank, partial(self._join, part, sequence, move), part.place)
        else:
            self._join(part, sequence, move)

    def wait(self, operation: Operation, patience: Patience | None = None) -> None:
        """Block the rank until the operation has completed. Raises RuntimeError if it fails, or if the ``patience`` of
        this wait ends before."""
        me, before = operation.rank, self.scheduler.clock[operation.rank]
        if get_ident() != self._own[me]:
            self._ask(me, partial(self.wait, operation, patience), places.here())
            return
        was_over = operation.end is not None
        if not was_over:
            if patience:
                self.scheduler.at(patience.until, me, self.network.give_up, patience)
            self.scheduler.settle(lambda: operation.end is not None or (patience is not None and patience.rang))
            if operation.end is None and not (patience and patience.rang):
                operation.waiting = True
                self._states.waiting[me] = operation
                self.scheduler.block(me)
                del self._states.waiting[me]
        end = operation.end
        late = patience is not None and (end is None or end > patience.until)
        if patience and late:
            end = patience.until
        assert end is not None
        if end > before:
            self.scheduler.clock[me] = end
            operation.wait += end - before
        if operation.error or (patience and late):
            raise RuntimeError(operation.error or (patience and patience.told()))
        operation.awaited = True
        if not was_over and self._shares_cores:  # ranks that are behind compute first
            self.scheduler.pause(me)

    def poll(self, operation: Operation) -> bool:
        """``is_completed()``: the clock advances to the next event that can change the answer, or by a growing step."""
        me, clock = operation.rank, self.scheduler.clock
        if get_ident() != self._own[me]:
            return bool(self._ask(me, partial(self.poll, operation), places.here()))
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
        if get_ident() != self._own[me]:
            self._ask(me, partial(self.sleep, me, seconds), places.here())
            return
        self.scheduler.advance(me, max(0.0, seconds))
        self.scheduler.pause(me)

    def _compute(self, me: int, name: str, seconds: float, flops: int) -> None:
        start = self.scheduler.clock[me]
        if self._shares_cores and self.network.moment <= start:  # messages posted before get the cores first
            self.scheduler.ask(me)
        self.scheduler.advance(me, self.network.cores.compute(me, start, seconds * self._pace[me]))
        self._log.book(me, name, start, self.scheduler.clock[me], flops)

    def _book_of(self, me: int) -> Residency:
        limit = self.cluster.memory_among(self.ranks, me)
        return self.book(partial(self.scheduler.clock.__getitem__, me), limit, partial(self._out_of_memory, me))

    def _devices(self, me: int) -> AbstractContextManager[Any]:
        """A context of the rank's function: where its tensors are said to be."""
        return nullcontext()

    def _book(self) -> Residency | None:
        me = rank_threads.owner()
        return None if me is None else self._residency[me]

    def _around(self) -> AbstractContextManager[None]:
        """The context of a thread that a rank starts."""
        me = rank_threads.owner()
        return nullcontext() if me is None else belonging(self, self._residency[me], me)

    def _ask(self, me: int, act: Callable[[], Any], place: places.Place) -> Any:
        """Let the rank's own thread do what a thread that it has started asks for (errands.py)."""
        if self.scheduler.finished[me]:
            self._refuse(me, threading.current_thread().name, place)
            threading.Event().wait()
        return self.errands[me].ask(act, place)

    def _refuse(self, me: int, thread: str, place: places.Place) -> None:
        self._fail(refusal(me, thread, place if place.file else self._states.place(me), self._states.others(me)))

    # ---- a rank's life

    def _switch_to(self, rank: int) -> None:
        self.streams.switch_to(rank)
        self.process.switch_to(rank)

    def _live(self, me: int) -> None:
        self._own[me] = get_ident()
        self.scheduler.begin(me)
        rank_threads.become(me, self)
        try:
            backend.enter(self, me)
            self._values[me] = self._carry_out(me)
        except BaseException as error:
            self.scheduler.pause(me)  # a rank that is behind in virtual time may fail earlier
            self._fail(error if isinstance(error, RunError) else self._raised(me, error))
            return
        if errand := self.errands[me].asked():
            self._refuse(me, errand.thread, errand.place)
            return
        self.scheduler.finish(me)
        if all(self.scheduler.finished):
            self._complete()

    def _carry_out(self, me: int) -> bytes:
        """Unpickle the rank's own copy of the function and its arguments, call it, and pickle its value."""
        fn, args, kwargs = self.job.unpack(me)
        self._residency[me].adopt((fn, args, kwargs))
        with Clock(*self._clockwork(me)), self._devices(me):
            value = fn(*args, **kwargs)
        with self._states.returns(me):
            return self.job.blob_of(value)

    def _clockwork(self, me: int) -> tuple[Any, ...]:
        """The arguments of a rank's Clock."""
        spend, claim = partial(self._compute, me), partial(self.streams.claim, me)
        return self.cluster.device_among(self.ranks, me), self._residency[me], spend, claim, self.flights[me]

    # ---- how a run ends

    def _guarded(self, act: Callable[..., None]) -> Callable[..., None]:
        """``act``, whose RunError (a mismatch) fails the whole run, and cannot be caught by the learner's code."""

        def guarded(*args: Any) -> None:
            try:
                act(*args)
            except RunError as error:
                self._fail(error)
                threading.Event().wait()

        return guarded

    def _out_of_memory(self, me: int, asked: int) -> None:
        """Fail the run: as with a mismatch, the learner's code cannot catch the error."""
        place, limit = places.here(), self.cluster.memory_among(self.ranks, me)
        place = place if place.file else self._states.place(me)
        held = self._residency[me].held()
        self._fail(out_of_memory(me, place, held, asked, limit, self._states.others(me)))
        threading.Event().wait()

    def _race(self, operation: Operation) -> None:
        """A buffer was used before its operation was waited for: in a strict run, fail at once."""
        if self.strict:
            self._fail(races.error([operation.event(self.scheduler.clock[operation.rank])]))
            threading.Event().wait()

    def _complete(self) -> None:
        left = list(self.network.unmatched())
        if left:
            self._fail(deadlock_report.left_over(left[0].kind, [rank_state(o) for o in left]))
        elif self.strict and (found := races.of(self.trace())):
            self._fail(races.error(found))
        self._ended.set()

    def _raised(self, me: int, error: BaseException) -> RunError:
        end = exits.raised(me, error)
        return exits.error(end, [exits.rank_state(end), *self._states.others(me)])

    def left(self, me: int, status: int) -> None:
        """The rank has called ``os._exit``: fail the run, since no peer can go on without it."""
        end = Exit(me, "exited", status=status)
        self._fail(exits.error(end, [exits.rank_state(end, self._states.place(me)), *self._states.others(me)]))

    def _stalled(self) -> None:
        for me, errands in enumerate(self.errands):
            if errand := errands.left():
                self._refuse(me, errand.thread, errand.place)
        self._fail(deadlock_report.deadlock(self._states.all()))

    def _fail(self, error: RunError) -> None:
        if not self._ended.is_set():
            self._error = error
            error.trace = self.trace()
            self._ended.set()
            for errands in self.errands:
                errands.closed = True

    def _give_up(self, idle: float, stuck: bool) -> None:
        states = self._states.all()
        if stuck:
            self._fail(deadlock_report.idle(states[self.scheduler.running], idle, states))
        else:
            self._fail(TimeLimit(f"The run did not end within {self.job.timeout:.0f} s.", states))

    def trace(self) -> Trace:
        events, unequal = self._log.events(max(self.scheduler.clock)), self.cluster.differences(self.ranks)
        return Trace.of(events, self.ranks, "virtual", self.cluster.name, unequal)


SIMULATION = Simulation
