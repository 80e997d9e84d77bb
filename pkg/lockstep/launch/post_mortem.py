"""Post-mortem analysis: what went wrong in a run, from journals, stacks, exceptions and exit statuses of its ranks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lockstep import deadlock_report
from lockstep.comm import exits, mismatch
from lockstep.comm.exits import first_cause
from lockstep.comm.matcher import Matched
from lockstep.comm.mismatch import rank_state
from lockstep.comm.operation import Operation
from lockstep.errors import Exit, Mismatch, RankState, RunError, TimeLimit, Unmatched
from lockstep.events import Trace
from lockstep.launch.busy_polling import asks
from lockstep.launch.watchdog import Stack, state_of
from lockstep.record import replay

CLUSTER = "this machine"


def journal_of(directory: str, rank: int) -> str:
    return os.path.join(directory, f"journal-{rank}")


def read_journal(directory: str, rank: int) -> list[Operation]:
    try:
        with open(journal_of(directory, rank), "rb") as journal:
            return replay(journal.read())
    except FileNotFoundError:
        return []


class Diagnosis:
    """The analysis of a run ``now`` seconds after its beginning, from the operations of each rank (``logs``)."""

    def __init__(self, logs: Sequence[Sequence[Operation]], now: float, world: str, cluster: str) -> None:
        self.ranks, self.logs, self.now = len(logs), logs, now
        self.matching = Matched(logs)
        until = max([now, *(o.end or o.posted for log in logs for o in log)])  # they went on while they were read
        self.trace = Trace.of(self.matching.events(until), len(logs), world, cluster)

    @classmethod
    def of_journals(cls, ranks: int, directory: str, began: float) -> Diagnosis:
        """``began``: the time.monotonic of the run's beginning."""
        now = time.monotonic() - began  # before they are read, which takes a while: nobody is idle for that
        logs = [read_journal(directory, r) for r in range(ranks)]
        return cls(logs, now, "processes", CLUSTER)

    def of_success(self) -> RunError | None:
        """The error of a run in which every rank has returned: a mismatch or unmatched operations, or None."""
        error = self._mismatch() or self._unmatched()
        return self._complete(error) if error else None

    def _mismatch(self) -> Mismatch | None:
        """The first mismatch of a collective, or else of a message, if any."""
        collectives = sorted(self.matching.collectives, key=lambda parts: min(p.posted for p in parts))
        found = [*map(mismatch.of_collective, collectives), *(mismatch.of_message(*p) for p in self.matching.pairs)]
        return next(filter(None, found), None)

    def _unmatched(self) -> Unmatched | None:
        """The error of operations without a partner, if any."""
        left = [o for o in self.matching.single if not o.given_up]
        return deadlock_report.left_over(left[0].kind, list(map(rank_state, left))) if left else None

    def of_deadlock(self, stacks: Mapping[int, Stack], ends: Mapping[int, Exit]) -> RunError:
        states = [self._asking(s) if s.rank in stacks else s for s in self.states(stacks, ends)]
        for s in states:  # polling a message in transit: with gloo, is_completed() never returns True
            if s.rank in stacks and s.state == "computing":
                return self._complete(deadlock_report.idle(s, self._idle(s.rank), states))
        return self._complete(self._mismatch() or deadlock_report.deadlock(states))

    def _asking(self, at: RankState) -> RankState:
        """The state of a rank that may be busy-waiting: it waits for the operation that it polls."""
        asked = asks(self.logs[at.rank])
        if asked is None:
            return at
        if self.matching.served(asked):
            return replace(at, state="computing", operation=str(asked), did=deadlock_report.POLLS, waits_for=())
        return replace(rank_state(asked), where=at.where or str(asked.place), source=at.source or asked.place.source)

    def _idle(self, rank: int) -> float:
        """Seconds since the rank's last operation."""
        return self.now - max((o.end or o.posted for o in self.logs[rank]), default=0.0)

    def of_failure(self, stacks: Mapping[int, Stack], ends: Mapping[int, Exit]) -> RunError:
        """The error of the first exception or death, whose consequences on other ranks are ignored."""
        cause = first_cause(ends)
        mismatch, log = self._mismatch(), self.logs[cause.rank]
        if mismatch and log and log[-1].end is None:  # the exception is about the mismatch
            return self._complete(mismatch)
        return self._complete(exits.error(cause, self.states(stacks, ends)))

    def of_a_stop(self, rank: int, stacks: Mapping[int, Stack], ends: Mapping[int, Exit]) -> RunError:
        place = stacks.get(rank, Stack()).place
        return self._complete(deadlock_report.stopped(rank, place, self.states(stacks, ends)))

    def of_time_limit(self, stacks: Mapping[int, Stack], ends: Mapping[int, Exit], limit: float) -> RunError:
        states = self.states(stacks, ends)
        idle = list(map(self._idle, range(self.ranks)))
        for s in states:
            if (
                s.state == "computing"
                and s.did != deadlock_report.RETURNS
                and idle[s.rank] >= min(deadlock_report.IDLE, limit / 2)
            ):
                return self._complete(deadlock_report.idle(s, idle[s.rank], states))
        if self._cannot_go_on(states, idle, min(deadlock_report.IDLE, limit / 2)):
            return self._complete(self._mismatch() or deadlock_report.deadlock(states))
        return self._complete(TimeLimit(f"The run did not end within {limit:.0f} s.", states))

    def _cannot_go_on(self, states: Sequence[RankState], idle: Sequence[float], long: float) -> bool:
        """Whether all ranks have waited for long, and some of them for operations that no rank has posted."""
        waiting = [s.rank for s in states if s.state == "waiting"]
        if any(s.state == "computing" for s in states) or not all(idle[r] >= long for r in waiting):
            return False
        return any(not self.matching.served(o) for r in waiting for o in self.logs[r] if o.end is None)

    def of_broken_operations(self, ends: Mapping[int, Exit]) -> RunError:
        """The error when operations have failed on ranks, and on none of them for a reason of its own."""
        if any(o.end is None for r in ends for o in self.logs[r]):
            return self.of_deadlock({}, ends)
        return self.of_failure({}, ends)

    def states(self, stacks: Mapping[int, Stack], ends: Mapping[int, Exit]) -> list[RankState]:
        return [self._state(r, stacks, ends) for r in range(self.ranks)]

    def _state(self, rank: int, stacks: Mapping[int, Stack], ends: Mapping[int, Exit]) -> RankState:
        if rank in stacks:
            return state_of(rank, self.logs[rank], stacks[rank])
        if rank not in ends:
            return RankState(rank, "finished")
        broken = [o for o in self.logs[rank] if o.end is None]
        if ends[rank].secondary and broken:  # an operation failed because another rank had ended
            return rank_state(broken[-1])
        return exits.rank_state(ends[rank])

    def _complete(self, error: RunError) -> RunError:
        error.trace = self.trace
        return error
