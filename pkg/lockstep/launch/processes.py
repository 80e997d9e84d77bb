"""run() on processes of this machine: start the ranks, listen to them, and say what became of them.

Every way to end has its place here: a value from each rank; an exception; a process that died; a deadlock that the
watchdog found; the end of the time; Ctrl-C. However it ends, no process is left, and the next run is a fresh one.
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
from lockstep.comm.output import TaggedOutput, show
from lockstep.errors import Exit, RunError, WorldUnavailable
from lockstep.events import Outcome
from lockstep.forking import starter
from lockstep.forking.child import CUT, Child
from lockstep.launch import joining
from lockstep.launch.busy_polling import BusyPolling
from lockstep.launch.job import Job
from lockstep.launch.post_mortem import Diagnosis, journal_of, read_journal
from lockstep.launch.rank_process import Returned, Task
from lockstep.launch.watchdog import Watchdog

START_LIMIT = 60.0  # seconds until all ranks have joined their group
GRACE = 0.3  # seconds in which other ranks may tell of an exception that came first
GLANCE = 0.1  # seconds between two looks of the watchdog


def run_processes(job: Job) -> Outcome:
    """Run ``job`` on as many processes of this machine. Raises the RunError that ended it."""
    with starter.started("lockstep.launch.rank_process:main", job.ranks) as children, meeting_place() as directory:
        return Run(job, children, directory).outcome()


@contextlib.contextmanager
def meeting_place() -> Iterator[str]:
    """A directory for the run, where there is room."""
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

    def __init__(self, job: Job, children: Sequence[Child], directory: str) -> None:
        self.job, self.children, self.directory = job, children, directory
        self.watchdog = Watchdog(children)
        journals = [journal_of(directory, r) for r in range(job.ranks)]
        self.busy_polling = BusyPolling(journals, partial(read_journal, directory))
        self.printed: list[str] = []
        self.output = TaggedOutput(self._print, job.output_limit)
        self.returned: dict[int, Returned] = {}
        self.failed: dict[int, Exit] = {}
        self.ready: set[int] = set()
        self.leaves = False  # whether the group must be left in due form: NCCL's

    def outcome(self) -> Outcome:
        try:
            self._begin()
            self._listen()
            diagnosis = self._diagnosis()
            if error := diagnosis.of_success():
                raise error
        except RunError as error:
            self.output.close()
            error.printed = "".join(self.printed)
            raise
        self.output.close()
        self._release()
        ended = [self.returned[r] for r in range(self.job.ranks)]
        given, memory = [self.job.given_back(e.blob) for e in ended], [e.memory for e in ended]
        time_, peaks = max(e.time for e in ended), [m.peak for m in memory]
        return Outcome(given, diagnosis.trace, time_, peaks, "".join(self.printed), memory=memory)

    def _begin(self) -> None:
        """Every rank joins the group; then all begin at once."""
        port = joining.free_port()
        for rank, child in enumerate(self.children):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end will be heard
                child.conn.send(Task(self.job.of_rank(rank), rank, self.directory, port))
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
        """Until every rank has returned; otherwise raise what ended the run."""
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
                stacks = self.watchdog.stacks([r for r in self.pending() if r != stopped])
                raise self._diagnosis().of_a_stop(stopped, stacks, self.failed)
            if time.monotonic() > self.began + self.job.timeout:
                stacks = self.watchdog.stacks(self.pending())
                raise self._diagnosis().of_time_limit(stacks, self.failed, self.job.timeout)
            if found := self.watchdog.alarm(self.pending(), self.busy_polling.now()):
                raise self._diagnosis().of_deadlock(found, self.failed)

    def _hear_more(self) -> None:
        """An exception may be the consequence of one that is not told yet. A death is not."""
        until = time.monotonic() + (0.0 if first_cause(self.failed).ended else GRACE)
        while self.pending() and (left := until - time.monotonic()) > 0:
            self._hear(left)

    def _diagnosis(self) -> Diagnosis:
        return Diagnosis.of_journals(self.job.ranks, self.directory, self.began)

    def pending(self) -> list[int]:
        return [r for r in range(self.job.ranks) if r not in self.returned and r not in self.failed]

    def _hear(self, timeout: float) -> None:
        """Take in what the ranks tell within ``timeout`` seconds, or their end."""
        connections = {self.children[r].conn.fileno(): r for r in self.pending()}
        ends = {self.children[r].fileno(): r for r in range(self.job.ranks) if r not in self.failed}
        heard = wait([*connections, *ends], max(0.0, timeout))
        for rank in [connections[s] for s in heard if s in connections]:
            self._take(rank)
        for rank in [ends[s] for s in heard if s in ends]:
            while rank in self.pending() and self.children[rank].conn.poll():  # what it said before its end
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
        if kind == "print":
            self.output.add(rank, *content)
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
        self.failed[rank] = unavailable if fault else exits.died(rank, code, time.monotonic(), said)

    def _print(self, text: str) -> None:
        self.printed.append(text)
        show(text)

    def _release(self) -> None:
        """All have returned: now they may leave their group. To destroy gloo's takes 40 ms, and gives nothing back that
        the end of the process does not."""
        if not self.leaves:
            return
        for child in self.children:
            with contextlib.suppress(OSError):
                child.conn.send(("leave",))
        for child in self.children:
            child.wait(5)
