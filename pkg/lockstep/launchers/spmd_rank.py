"""One rank's part in a run under a launcher: execute the function, report the outcome, receive those of all others.

No process watches from outside. So each rank enforces its own time limit (``deadline``), checks ranks that do not
report (``outcomes``), and derives from all reports the same verdict as every other rank.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch.distributed as dist

from lockstep.comm import exits
from lockstep.comm.operation import Operation
from lockstep.comm.output import StreamTo, TaggedOutput
from lockstep.comm.rank_variables import name_master
from lockstep.errors import Exit, RunError, Stuck, WorldUnavailable
from lockstep.events import Outcome
from lockstep.launch import joining
from lockstep.launch.deadline import Deadline, Overdue, Terminated, TimeUp, terminable
from lockstep.launch.init_process_group import Given
from lockstep.launch.job import INSIDE, Job
from lockstep.launch.post_mortem import Diagnosis
from lockstep.launch.rank_process import Returned, carry_out
from lockstep.launch.watchdog import Stack
from lockstep.launchers.detection import Environment
from lockstep.launchers.outcomes import Exchange, Lost
from lockstep.record import Recorder
from lockstep.residency import Residency

PATIENCE = 30.0  # seconds after the job's timeout, at which a rank that does not return is killed


class Member(Protocol):
    """The rank's membership in the process group."""

    def leave(self) -> None: ...

    def new_store(self) -> Any: ...

    def come_back(self, environment: Environment, timeout: float) -> None: ...

    def hang_up(self) -> None: ...


class Part:
    """This rank's part in one run."""

    def __init__(self, job: Job, environment: Environment, exchange: Exchange, member: Member) -> None:
        self.job, self.environment, self.exchange, self.member = job, environment, exchange, member
        self.printed: list[str] = []
        self.operations: list[Operation] = []
        self.blob = b""

    def outcome(self) -> Outcome:
        self.began = time.monotonic()
        try:
            with terminable():
                return self._outcome()
        except Lost as lost:
            raise self._complete(self._without(lost)) from None
        except Terminated:
            raise self._complete(self._without(self._who_is_gone())) from None
        except dist.DistNetworkError:
            told = (
                "Rank 0 cannot be asked any more what became of the run: its process has ended, or its node is cut off."
            )
            raise WorldUnavailable(told) from None

    def _outcome(self) -> Outcome:
        self._meet()
        self.began = time.monotonic()
        with self._as_rank():
            self._live()
        told = self.exchange.hear("ended")
        ends = [end for end, *_ in told]
        diagnosis = self._diagnosis([log for _, log, *_ in told])
        if error := verdict(diagnosis, ends, self.job.timeout):
            raise self._complete(error)
        if not all(stayed for *_, stayed in told):  # some programs destroy the group at their end
            self.member.come_back(self.environment, self.job.timeout)
        trace, printed = diagnosis.trace, "".join(self.printed)
        given = self.job.given_back(self._all_values(), trace, printed)
        memory, peaks = [end.memory for end in ends], [end.memory.peak for end in ends]
        ended = max(end.time for end in ends)
        return Outcome(given, trace, ended, peaks, printed, memory=memory)

    def _meet(self) -> None:
        """Wait for all ranks before the function runs, so that it cannot be blamed for a missing one."""
        try:
            self.exchange.begin()
        except Lost as lost:
            raise WorldUnavailable(
                f"Rank {lost.rank} did not come to this run: it has ended, or it does something else.",
                "Every rank must call run() or check() equally often.",
            ) from None

    def _live(self) -> None:
        """Run the function, and report its outcome: a value, an exception, or the time limit."""
        deadline = Deadline(self.job.timeout, self._overdue, self.member.hang_up)
        mine: Returned | Exit | None = None
        try:
            with deadline:
                mine = self._try()
        except TimeUp:
            mine = None
        if deadline.passed:
            return  # reported by _overdue
        if isinstance(mine, Exit):
            self.member.leave()  # so that operations of ranks that wait for this one fail at once
        self.exchange.tell("ended", (mine, self.operations, dist.is_initialized()))

    def _try(self) -> Returned | Exit:
        residency = Residency(lambda: time.monotonic() - self.began)
        try:
            with joining.adoption(self._given()):
                value = carry_out(self.job, self.environment.rank, self.began, residency, keep=self._keep)
            ended = time.monotonic() - self.began
            self.blob = self.job.blob_of(value)
            return Returned(b"", ended, residency.memory())
        except (TimeUp, Terminated):
            raise
        except BaseException as error:
            return exits.raised(self.environment.rank, error)

    def _given(self) -> Given:
        here = self.environment
        return joining.given(here.rank, here.world_size, self.member.new_store, self.job.timeout)

    def _keep(self, recorder: Recorder) -> None:
        self.operations = recorder.operations

    def _overdue(self, stack: Stack) -> None:
        self.exchange.tell("ended", (Overdue(stack), list(self.operations), True))

    def _all_values(self) -> list[bytes]:
        """Gather the values of all ranks on all ranks; or every rank raises WorldUnavailable."""
        blobs: list[bytes] = []
        mine = ""
        try:
            blobs = joining.gathered(self.blob)
        except RuntimeError as error:
            mine = str(error).partition("\n")[0] or type(error).__name__
        self.exchange.tell("values", mine)
        if reason := next(filter(None, self.exchange.hear("values")), ""):
            raise WorldUnavailable(f"The ranks could not exchange their values: {reason}.")
        return blobs

    # ---- failures

    def _diagnosis(self, logs: list[list[Operation]]) -> Diagnosis:
        return Diagnosis(logs, time.monotonic() - self.began, "spmd", self.environment.launcher)

    def _without(self, lost: Lost) -> RunError:
        """The error of a run in which a rank does not report."""
        told: list[Any] = [None] * self.environment.world_size
        with contextlib.suppress(RuntimeError):
            told = self.exchange.heard("ended")
        told[self.environment.rank] = told[self.environment.rank] or (None, self.operations)
        diagnosis = self._diagnosis([t[1] if t else [] for t in told])
        ends = {r: t[0] for r, t in enumerate(told) if t and isinstance(t[0], Exit)}
        stacks = {r: Stack() for r, t in enumerate(told) if not t}
        if lost.how == "stopped":
            return diagnosis.of_a_stop(lost.rank, stacks, ends)
        if lost.how == "silent":
            waited = f"{self.job.timeout + PATIENCE:.0f} s"
            return Stuck(f"Stuck: rank {lost.rank} has not come back within {waited}.", diagnosis.states(stacks, ends))
        gone = Exit(lost.rank, "gone")
        end = gone if lost.exitcode is None else exits.died(lost.rank, lost.exitcode, 0.0)
        return exits.error(end, diagnosis.states({}, {**ends, lost.rank: end}))

    def _who_is_gone(self) -> Lost:
        """The launcher terminates this rank, as it does when another one has died: find out which one."""
        others = [r for r in range(self.environment.world_size) if r != self.environment.rank]
        for _ in range(10):
            try:
                self.exchange.look(others)
            except Lost as lost:
                return lost
            time.sleep(0.05)
        return Lost(self.environment.rank, "gone", -signal.SIGTERM)

    def _complete(self, error: RunError) -> RunError:
        error.printed = "".join(self.printed)
        return error

    @contextlib.contextmanager
    def _as_rank(self) -> Iterator[None]:
        """A context for the function: output is tagged and kept, nested run() is rejected, and a rank that never
        returns is killed after printing its stack."""
        out, output = sys.stdout, TaggedOutput(self._print, self.job.output_limit)
        faulthandler.dump_traceback_later(self.job.timeout + PATIENCE, exit=True, file=sys.__stderr__ or 2)
        os.environ[INSIDE] = "spmd"
        named = {"MASTER_ADDR", "MASTER_PORT"} - set(os.environ)
        name_master("127.0.0.1", int(self.environment.port))
        self._out = out
        sys.stdout = StreamTo(output, lambda: self.environment.rank)
        try:
            yield
        finally:
            sys.stdout = out
            output.close()
            for name in (INSIDE, *named):
                del os.environ[name]
            faulthandler.cancel_dump_traceback_later()

    def _print(self, text: str) -> None:
        self.printed.append(text)
        self._out.write(text)
        self._out.flush()


def verdict(diagnosis: Diagnosis, ends: Sequence[Any], limit: float) -> RunError | None:
    """The error of the run, from the outcomes of all ranks, or None. It is the same on every rank."""
    raised = {r: end for r, end in enumerate(ends) if isinstance(end, Exit)}
    overdue = {r: end.stack for r, end in enumerate(ends) if isinstance(end, Overdue)}
    if any(not end.secondary for end in raised.values()):
        return diagnosis.of_failure(overdue, raised)
    if overdue:
        return diagnosis.of_time_limit(overdue, raised, limit)
    if raised:
        return diagnosis.of_broken_operations(raised)
    return diagnosis.of_success()
