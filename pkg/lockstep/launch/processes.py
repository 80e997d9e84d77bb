"""run() on processes of this machine: start the ranks, receive their messages, and report how the run ended.

A run ends with a value from each rank, an exception, the death of a process, a deadlock that the watchdog detects, the
time limit, or Ctrl-C. However it ends, no process is left over, and the next run starts afresh.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import wait

from lockstep.comm import exits, restricted_pickle
from lockstep.comm.exits import first_cause
from lockstep.comm.memory_kills import MemoryKills
from lockstep.comm.output import PRINTED, TaggedOutput, show
from lockstep.errors import Exit, RunError, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import shared_memory, starter
from lockstep.forking.child import CUT, Child
from lockstep.launch import joining
from lockstep.launch.busy_polling import BusyPolling
from lockstep.launch.job import Job
from lockstep.launch.post_mortem import Diagnosis, journal_of, read_journal
from lockstep.launch.rank_process import Returned, Task
from lockstep.launch.watchdog import Watchdog

START_LIMIT = 60.0  # seconds until all ranks have joined their group
GRACE = 0.3  # seconds in which other ranks may report an earlier exception
GLANCE = 0.1  # seconds between two checks of the watchdog


def run_processes(job: Job) -> Outcome:
    """Run ``job`` on as many processes of this machine. Raises the RunError that ended it."""
    entry = "lockstep.launch.rank_process:main"
    with (
        shared_memory.tidied() as segments,
        starter.started(entry, job.ranks, job.modules()) as children,
        meeting_place() as directory,
    ):
        return Run(job, children, directory, segments).outcome()


@contextlib.contextmanager
def meeting_place() -> Iterator[str]:
    """A temporary directory for the run, on a file system with free space. Raises WorldUnavailable if there is none."""
    problem = ""
    for parent in dict.fromkeys([tempfile.gettempdir(), "/dev/shm"]):
        try:
            directory = tempfile.TemporaryDirectory(prefix="lockstep-", dir=parent, ignore_cleanup_errors=True)
            with open(os.path.join(directory.name, "room"), "wb") as probe:
                probe.write(bytes(1 << 16))
        except OSError as error:
            problem = problem or f"{parent}: {error.strerror}"
            continue
        with directory:
            yield directory.name
        return
    raise WorldUnavailable(f"There is no room for the files of a run ({problem}).", "Make room there, or set TMPDIR.")


class Run:
    """The parent's side of one run."""

    def __init__(self, job: Job, children: Sequence[Child], directory: str, segments: str) -> None:
        self.job, self.children, self.directory, self.segments = job, children, directory, segments
        self.watchdog = Watchdog(children)
        journals = [journal_of(directory, r) for r in range(job.ranks)]
        self.busy_polling = BusyPolling(journals, partial(read_journal, directory))
        self.printed: list[str] = []
        self.outputs = {to: TaggedOutput(partial(self._print, to), job.output_limit, job.tag) for to in PRINTED}
        self.returned: dict[int, Returned] = {}
        self.failed: dict[int, Exit] = {}
        self.ready: set[int] = set()
        self.memory_kills = MemoryKills()
        self.leaves = False  # whether the group must be destroyed properly, as with NCCL

    def outcome(self) -> Outcome:
        try:
            self._begin()
            self._listen()
            diagnosis = self._diagnosis()
            if error := diagnosis.of_success():
                raise error
        except RunError as error:
            self._close_outputs()
            error.printed = "".join(self.printed)
            raise
        self._close_outputs()
        self._release()
        ended = [self.returned[r] for r in range(self.job.ranks)]
        trace, printed = diagnosis.trace, "".join(self.printed)
        given = self.job.given_back([e.blob for e in ended], trace, printed)
        memory, time_ = [e.memory for e in ended], max(e.time for e in ended)
        return Outcome(given, trace, time_, [m.peak for m in memory], printed, memory=memory)

    def _begin(self) -> None:
        """Let every rank join the group; then start all of them at the same time."""
        port = joining.free_port()
        for rank, child in enumerate(self.children):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end will be noticed below
                child.conn.send(Task(self.job.of_rank(rank), rank, self.directory, port, self.segments))
        deadline = time.monotonic() + START_LIMIT
        while len(self.ready) < self.job.ranks:
            self._hear(deadline - time.monotonic())
            if self.failed:
                cause = first_cause(self.failed)
                raise WorldUnavailable(f"Rank {cause.rank} could not join the others: {exits.reason(cause)}.")
            if time.monotonic() > deadline:
                raise WorldUnavailable(f"The ranks could not join each other within {START_LIMIT:.0f} s.")
        self.began = time.monotonic()
        for child in self.children:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                child.conn.send(("go", self.began))

    def _listen(self) -> None:
        """Wait until every rank has returned. Raises the error that ended the run."""
        glance = self.began + GLANCE
        while self.pending():
            self._hear(GLANCE)
            if self.failed:
                self._hear_more()
                cause = first_cause(self.failed)
                if cause.kind == "unavailable":
                    raise WorldUnavailable(f"Rank {cause.rank} could not go on: {exits.reason(cause)}.")
                stacks = self.watchdog.stacks(self.pending())
                raise self._diagnosis().of_failure(stacks, self.failed)
            if not self.pending() or time.monotonic() < glance:
                continue
            glance = time.monotonic() + GLANCE
            if (stopped := self.watchdog.stopped()) is not None:
                stacks = self.watchdog.stacks(sorted({stopped, *self.pending()}))
                raise self._diagnosis().of_a_stop(stopped, stacks, self.failed)
            if time.monotonic() > self.began + self.job.timeout:
                stacks = self.watchdog.stacks(self.pending())
                raise self._diagnosis().of_time_limit(stacks, self.failed, self.job.timeout)
            if found := self.watchdog.alarm(self.pending(), self.busy_polling.now()):
                raise self._diagnosis().of_deadlock(found, self.failed)

    def _hear_more(self) -> None:
        """Wait for further exceptions, since the first one to arrive may be the consequence of another. A death is
        none."""
        until = time.monotonic() + (0.0 if first_cause(self.failed).ended else GRACE)
        while self.pending() and (left := until - time.monotonic()) > 0:
            self._hear(left)

    def _diagnosis(self) -> Diagnosis:
        return Diagnosis.of_journals(self.job.ranks, self.directory, self.began)

    def pending(self) -> list[int]:
        return [r for r in range(self.job.ranks) if r not in self.returned and r not in self.failed]

    def _hear(self, timeout: float) -> None:
        """Process messages and ends of ranks that arrive within ``timeout`` seconds."""
        connections = {self.children[r].conn.fileno(): r for r in self.pending()}
        ends = {self.children[r].fileno(): r for r in range(self.job.ranks) if r not in self.failed}
        heard = wait([*connections, *ends], max(0.0, timeout))
        for rank in [connections[s] for s in heard if s in connections]:
            self._take(rank)
        for rank in [ends[s] for s in heard if s in ends]:
            while rank in self.pending() and self.children[rank].conn.poll():  # messages from before its end
                self._take(rank)
            if rank not in self.failed and self.pending():  # peers still need a rank that has returned
                self._gone(rank)

    def _take(self, rank: int) -> None:
        try:
            kind, *content = restricted_pickle.receive(self.children[rank].conn)
        except (EOFError, OSError):
            self._gone(rank)
            return
        except restricted_pickle.Forged:
            self.failed[rank] = Exit(rank, "cut", when=time.monotonic())
            return
        if kind in self.outputs:
            self.outputs[kind].add(rank, *content)
        elif kind == "ready":
            self.ready.add(rank)
            self.watchdog.threads[rank], self.leaves = content
        elif isinstance(content[0], Returned):
            self.returned[rank] = content[0]
        else:
            self.failed[rank] = content[0]

    def _gone(self, rank: int) -> None:
        child = self.children[rank]
        code, fault, said = child.wait(5), child.fault, child.last_words
        if code == CUT:
            self.failed[rank] = Exit(rank, "cut", when=time.monotonic())
            return
        unavailable = Exit(rank, "unavailable", message=fault)
        starved, orphaned = MemoryKills().since(self.memory_kills), child.orphaned
        died = exits.died(rank, code, time.monotonic(), said, starved, orphaned)
        self.failed[rank] = unavailable if fault else died

    def _print(self, stream: str, text: str) -> None:
        self.printed.append(text)
        show(text, stream)

    def _close_outputs(self) -> None:
        for output in self.outputs.values():
            output.close()

    def _release(self) -> None:
        """Let ranks destroy their group after all have returned, if that is necessary. With gloo it takes 40 ms, and
        frees nothing that the end of the process does not."""
        if not self.leaves:
            return
        for child in self.children:
            with contextlib.suppress(OSError):
                child.conn.send(("leave",))
        for child in self.children:
            child.wait(5)
