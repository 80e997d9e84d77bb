"""Run a learner's function for every case of an exercise, and write down what happened.

The cases of one world size share a run, parted by marks in the trace. From the first run that fails on, each case has
a run of its own, so that one failure hides nothing and is seen from its beginning."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, chain, islice
from operator import itemgetter
from random import Random
from typing import Any

import cloudpickle

from lockstep import machines, worlds
from lockstep.checks.argument_changes import comparing, recorded
from lockstep.checks.calls import Begun, told_call, under_way
from lockstep.checks.case import Case
from lockstep.checks.device import holds_tensors
from lockstep.checks.exercise import Exercise, Watch
from lockstep.checks.failures import HANGS, failure_of, of_a_test, without_ranks
from lockstep.checks.observation import Failure, Observation, Seen
from lockstep.checks.rank_program import Act, astray, begun, part, play, play_each_pure, play_pure, returned
from lockstep.checks.seeds import seed
from lockstep.checks.signature import misfit
from lockstep.checks.transport import Unreadable, decoded
from lockstep.comm import exits
from lockstep.comm.backend_rules import RENDEZVOUS, Rules
from lockstep.errors import Exit, LockstepError, RunError, WorldUnavailable
from lockstep.events import Outcome, Trace
from lockstep.launchers.detection import detect
from lockstep.machines import Cluster
from lockstep.worlds import check_world, launched, run_sealed

CLUSTER = "dgx-a100"  # the same for everyone, whatever machine they sit at
LIMIT = 20.0  # seconds of host time for a whole check: nbgrader allows 60 for a cell
REAL_CASE_LIMIT = 15.0  # for a case on processes; on the virtual cluster the exercise says
LAUNCHED_CASE_LIMIT = 60.0  # under a launcher: no notebook waits, and a busy node took 16 s to begin a right answer


class Ungraded(LockstepError):
    """The check could not be carried out: never the learner's fault, and never a zero."""


def observe(
    exercise: Exercise,
    fn: Callable[..., Any],
    on: str | None = None,
    limit: float = LIMIT,
    rules: Rules | None = None,
    cases: Sequence[Case] | None = None,
    guarded: bool = True,
) -> Observation:
    """What ``fn`` does in the world ``on``: by default the launcher's, or else a virtual cluster, the same for
    everyone. ``rules``: in place of the exercise's. ``cases``: these alone. Where it calls the
    library's own answer, or is one, that raises LibraryAnswer, if it is ``guarded``."""
    world = on or ("spmd" if detect() else home(exercise))
    check_world(world)
    if problem := misfit(exercise, fn):
        return Observation(exercise.id, world, signature=problem)
    if problem := _uncopyable(fn, "another process" if exercise.pure else "the ranks"):
        return Observation(exercise.id, world, problem=problem)
    warm_up(exercise, world)
    longest = max(limit, exercise.run.timeout) if exercise.pure else limit
    rules = rules or (RENDEZVOUS if world in ("processes", "spmd") else exercise.run.rules)
    refused = exercise.reference.partition(":")[0] if guarded else ""
    stage = _Stage(exercise, fn, refused, world, time.monotonic() + longest, rules)
    for size in stage.sizes() if cases is None else sorted({case.ranks for case in cases}):
        every = exercise.cases(size, seed(exercise.id, size)) if cases is None else cases
        stage.perform([case for case in every if case.ranks == size])
    found = (stage.seen[0].trace.world if stage.seen else "") or world
    return Observation(exercise.id, found, seen=tuple(stage.seen), unseen=tuple(stage.unseen))


def observe_reference(
    exercise: Exercise, on: str | None = None, limit: float = LIMIT, rules: Rules | None = None
) -> Observation:
    """What the exercise's own reference does: in the same way, only that nothing is refused."""
    return observe(exercise, exercise.reference_function(), on, limit, rules, guarded=False)


def observe_each(exercise: Exercise, fns: Sequence[Callable[..., Any]], case: Case) -> list[Seen]:
    """What each of several answers does in one case, all in one run on the virtual cluster. Raises the RunError of the
    first that does not end well."""
    refused = exercise.reference.partition(":")[0]
    seconds, watch = exercise.run.timeout * len(fns), watching(exercise)
    if exercise.pure:
        calls = [exercise.inputs(case, 0)]
        outcome = run_sealed(play_each_pure, fns, refused, watch, own=calls, on=CLUSTER, timeout=seconds)
        by_answer = _opened(0, outcome.values[0])
        return [_tried(case, values, outcome) for values in by_answer]
    known = replace(exercise, costs=replace(exercise.costs, measure_memory=False))  # they hide nothing, and are many
    own, rules = acts_by_rank(known, [case]), exercise.run.rules
    outcome = run_sealed(play, fns, refused, watch, own=own, on=CLUSTER, timeout=seconds, rules=rules)
    by_rank = [_opened(rank, blob) for rank, blob in enumerate(outcome.values)]
    return _parted([case] * len(fns), by_rank, outcome)


def _tried(case: Case, values: list[Any] | None, outcome: Outcome) -> Seen:
    if values is None:
        return Seen(case, failure=Failure("RankRaised", ""))
    return _called(case, values, Trace(ranks=1), outcome)


@dataclass
class _Stage:
    """The runs of one check, until the cases or the time or the learner's function give out."""

    exercise: Exercise
    fn: Callable[..., Any]
    refused: str
    world: str
    deadline: float
    rules: Rules
    seen: list[Seen] = field(default_factory=list)
    unseen: list[Case] = field(default_factory=list)
    together: bool = True  # until a run fails
    begun: Begun | None = None  # the last call that has begun, of those of a pure exercise's last run
    calls: int = 0  # that had begun then
    stopped: bool = False  # no use in going on
    given: float = 0.0  # seconds that the last run had
    asked: Sequence[Sequence[Any]] = ()  # the calls of the last run of a pure exercise, by case

    def __post_init__(self) -> None:
        if self.world == "spmd":  # ranks that looked at their own clocks would not agree when to stop
            self.deadline = math.inf

    def sizes(self) -> tuple[int, ...]:
        """The world sizes to try: under a launcher there is only one."""
        return self.exercise.worlds if self.world != "spmd" or self.exercise.pure else (launched(None),)

    def perform(self, cases: Sequence[Case]) -> None:
        """Together, until a run fails; then each alone, so that one failure hides nothing."""
        alone = not self.together or self.stopped or len(cases) == 1 or self.exercise.run.jitter
        if alone or not self._perform_together(cases):
            for case in cases:
                self._perform_alone(case)

    def _perform_together(self, cases: Sequence[Case]) -> bool:
        """Whether that says all. A hang is not repeated: those before it went well, but what they returned is lost with
        the run, and they are called once more."""
        try:
            self.seen += self._played(cases)
        except RunError as error:
            self.together = False
            at = self._hung(cases, error)
            if at is None:
                return False
            failed, _ = self._failed(cases, at, error)
            for case in cases[:at]:
                self._perform_alone(case)
            self.seen.append(failed)
            self.unseen += cases[at + 1 :]
            self.stopped = True
        return True

    def _perform_alone(self, case: Case) -> None:
        if self.stopped or time.monotonic() > self.deadline:
            self.unseen.append(case)
            return
        try:
            self.seen += self._played([case])
        except RunError as error:
            self.together = False
            seen, failure = self._failed([case], 0, error)
            if self.exercise.run.ends_well and (told := self.exercise.run.ends_well(case, failure)):
                returned = ([told],) if self.exercise.pure else (told,) * case.ranks
                self.seen.append(replace(seen, failure=None, returned=returned, changes=()))
                return
            self.seen.append(seen)
            gone = self.world == "spmd" and failure.kind == "RankDied"  # a launcher starts no rank again
            self.stopped = gone or failure.not_written or failure.library_answer or failure.kind in HANGS

    def _played(self, cases: Sequence[Case]) -> list[Seen]:
        """One run for all of them. The calls of a pure exercise share a process, which imports what they need once."""
        if not self.exercise.pure:
            watch = watching(self.exercise)
            outcome = self._run(play, [self.fn], watch, own=acts_by_rank(self.exercise, cases), varied=cases[0].seed)
            return _parted(cases, outcome.values, outcome)
        seen = self._called_each(cases)
        follow = self.exercise.run.follow
        while follow and any(further := [follow(one) for one in seen]):
            seen = self._called_each([more or one.case for more, one in zip(further, seen, strict=True)])
        return seen

    def _called_each(self, cases: Sequence[Case]) -> list[Seen]:
        """One run of a pure exercise."""
        self.asked = calls = [self.exercise.inputs(case, 0) for case in cases]
        every = list(chain(*calls))
        order, watch = self._order(len(every), cases[0].seed), watching(self.exercise)
        with under_way() as note:
            try:
                outcome = self._run(play_pure, self.fn, watch, note, own=[[every[number] for number in order]])
            finally:
                last = note.last()
                self.begun = replace(last, number=order[last.number]) if last else None
                self.calls = last.number + 1 if last else 0
        values = (value for _, value in sorted(zip(order, outcome.values[0], strict=True), key=itemgetter(0)))
        answers = [list(islice(values, len(of_case))) for of_case in calls]
        return [_called(c, a, outcome.trace, outcome) for c, a in zip(cases, answers, strict=True)]

    def _order(self, calls: int, seed: int) -> list[int]:
        """In which they are made: of a test that is tried on right and wrong programs nobody knows it beforehand."""
        return Random(seed).sample(range(calls), calls) if self.exercise.kind == "catch" else list(range(calls))

    def _hung(self, cases: Sequence[Case], error: RunError) -> int | None:
        """Which of the cases, if any: the last that every rank had begun, or whose call was under way."""
        if type(error).__name__ not in HANGS:
            return None
        if not self.exercise.pure:
            return max(0, begun(error.trace) - 1) if error.trace else 0
        if self.begun is None or not (self._hangs_in_a_call() or self.exercise.kind == "catch"):
            return None  # of a test, whose calls are alike, nothing is to be had in another run
        ends = accumulate(map(len, self.asked))
        return next(at for at, end in enumerate(ends) if self.begun.number < end)

    def _hangs_in_a_call(self) -> bool:
        """Was one call under way for most of the time? Or else they are slow, all together."""
        return self.begun is not None and self.begun.seconds > self._longest() / 2

    def _failed(self, cases: Sequence[Case], at: int, error: RunError) -> tuple[Seen, Failure]:
        """The case ``at`` of a run that failed, and how."""
        trace = part(error.trace, len(cases))[at] if error.trace else Trace(ranks=cases[at].ranks)
        failure = failure_of(error, self.given)
        if self.exercise.pure:
            known = self.begun if failure.kind not in HANGS or self._hangs_in_a_call() else None
            calls = list(chain(*self.asked))
            call = told_call(self.exercise, calls[known.number]) if known else ""
            test = self.exercise.kind == "catch"
            failure = without_ranks(failure, call or ("your test" if test else "your function"))
            if test and self.begun:
                failure = of_a_test(failure, self.begun.runs, self.calls, len(calls), known is not None)
        return Seen(cases[at], trace=trace, printed=error.printed, failure=failure), failure

    def _world(self) -> str:
        return home(self.exercise) if self.exercise.pure else self.world

    def _cluster(self, seed: int) -> str | Cluster:
        """Where a case is run: where times vary, they do so alike for all answers."""
        if self._world() != CLUSTER or not self.exercise.run.jitter:
            return self._world()
        return machines.find(CLUSTER).with_jitter(messages=self.exercise.run.jitter, seed=seed)

    def _longest(self) -> float:
        """Seconds for a case, where the whole check's are not used up."""
        least = {"processes": REAL_CASE_LIMIT, "spmd": LAUNCHED_CASE_LIMIT}.get(self._world(), 0.0)
        return max(self.exercise.run.timeout, least)

    def _run(self, play: Callable[..., bytes], what: Any, *more: Any, own: Sequence[Any], varied: int = 0) -> Outcome:
        """``what``: the function, or those that are played; ``own``: by rank, what to do there; no other gets it.
        ``varied``: a seed. A third of a case's time it has in any case: those before it may have been slow."""
        timeout = self.given = max(1.0, self._longest() / 3, min(self._longest(), self.deadline - time.monotonic()))
        on, nests = self._cluster(varied), self.exercise.kind == "catch"
        try:
            outcome = run_sealed(
                play, what, self.refused, *more, own=own, on=on, timeout=timeout, rules=self.rules, nests=nests,
                ours=not self.refused, alone=self.exercise.pure,
            )  # fmt: skip
            values = [_opened(rank, blob) for rank, blob in enumerate(outcome.values)]
        except WorldUnavailable as error:
            raise Ungraded(error.message, error.remedy) from error
        except RunError as error:
            _refuse_strays(error.trace)
            raise
        _refuse_strays(outcome.trace)
        return replace(outcome, values=values)


def home(exercise: Exercise) -> str:
    """The world in which it is observed, if nobody names another."""
    return "processes" if exercise.run.real_machine else CLUSTER


def warm_up(exercise: Exercise, world: str) -> None:
    """Loading torch, what every run of a check imports, and a sandbox take seconds, which are not the learner's."""
    if exercise.run.real_machine and not exercise.pure and world not in ("processes", "spmd"):
        told = f"{exercise.id} is about ranks that are real processes, and {world} is a simulation."
        raise Ungraded(told, 'Check it with on="processes", or without `on`.')
    try:
        if exercise.run.require:
            exercise.run.require()
        if world != "spmd":
            worlds.warm_up(modules_of(exercise))
    except WorldUnavailable as error:
        raise Ungraded(error.message, error.remedy) from error


def modules_of(exercise: Exercise) -> tuple[str, ...]:
    """What the ranks of a check need of Lockstep, and what the exercise says that they load."""
    homes = filter(None, map(_home_of, (exercise.run.watch, exercise.run.watch_known)))
    return (*exercise.run.preload, play.__module__, exercise.reference.partition(":")[0], *homes)


def _home_of(watch: Any) -> str:
    """Lockstep's module that it is of: a child that had to load it loaded all that a figure needs, too."""
    plain = watch.func if isinstance(watch, partial) else watch
    module = getattr(plain, "__module__", None) or ""
    return module if module.startswith("lockstep.") else ""


def _refuse_strays(trace: Trace | None) -> None:
    """Ungraded where tensors are on GPUs and messages were not: half of it would be judged on each."""
    if trace and (backend := astray(trace)):
        raise Ungraded(
            f"The tensors of this check are on GPUs, where NCCL carries them, but {backend} carried some messages.",
            "Make the tensors that you send and receive where the given ones are: torch.empty_like(tensor), or "
            "torch.empty(n, device=tensor.device).",
        )


def _uncopyable(fn: Callable[..., Any], there: str) -> str:
    """Why ``fn`` cannot travel to other processes; empty if it can."""
    try:
        cloudpickle.dumps(fn)
    except Exception as error:
        return (
            f"Your function cannot be copied to {there} ({error}). It uses something that lives in this process "
            "only, such as a lock, an open file or a process group: make it inside the function, or pass it in."
        )
    return ""


def _opened(rank: int, blob: bytes) -> Any:
    try:
        return decoded(blob)
    except Unreadable:
        raise exits.error(Exit(rank, "cut")) from None


def acts_by_rank(exercise: Exercise, cases: Sequence[Case]) -> list[list[Act]]:
    """By rank, its acts: each rank gets its own arguments only."""
    arguments = [[exercise.inputs(case, rank) for rank in range(case.ranks)] for case in cases]
    tensors = [holds_tensors(of_case) and not exercise.run.any_source for of_case in arguments]
    rows = list(zip(cases, arguments, tensors, strict=True))
    ranks, weighed = range(cases[0].ranks), exercise.costs.measure_memory
    return [[Act(case.group, tuple(of_case[rank]), t, weighed) for case, of_case, t in rows] for rank in ranks]


def watching(exercise: Exercise) -> Watch:
    """Its watch, which compares arguments before and after, too; but not where it reads the function's code."""
    watch = exercise.run.watch or returned
    return comparing(watch) if exercise.run.compare_arguments else watch


def _parted(cases: Sequence[Case], by_rank: Sequence[Sequence[Any]], outcome: Outcome) -> list[Seen]:
    """What each of the cases of a run showed."""
    rows = zip(cases, zip(*by_rank, strict=True), part(outcome.trace, len(cases)), strict=True)
    return [_seen(case, played, trace, outcome) for case, played, trace in rows]


def _seen(case: Case, played: Sequence[tuple[Any, ...]], trace: Trace, outcome: Any) -> Seen:
    records, arguments, memory = zip(*played, strict=True)
    returned, changes = zip(*map(recorded, records), strict=True)
    return Seen(case, returned, arguments, memory, trace, outcome.printed, changes=changes)


def _called(case: Case, records: Sequence[Any], trace: Trace, outcome: Any) -> Seen:
    """The calls of a case of a pure exercise."""
    returned, changes = zip(*map(recorded, records), strict=True) if records else ((), ())
    return Seen(case, ([*returned],), ([],), ({},), trace, outcome.printed, changes=changes)
