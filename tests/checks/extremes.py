"""Of an exercise, the extremes that its check does not see: mutations of its reference that pass, and data that no case
has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from typing import Any

import cloudpickle
import mutations
import numpy as np
import torch
from mutations import ALONE, BIT, FACT, MUTATED, NOTHING, OF_RANKS, OF_RESULTS, OF_ROOTS, Mutation, of_argument, wrapped

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import fault_of
from lockstep.checks.observation import Seen
from lockstep.checks.observe import observe, observe_each
from lockstep.checks.run_faults import examine
from lockstep.checks.seeds import seed
from lockstep.errors import RunError

PATIENCE = 60.0

cloudpickle.register_pickle_by_value(mutations)  # ranks have no path to the tests


def mutants_that_pass(exercise: Exercise) -> list[str]:
    """Names of the mutations that mean something here, and that nobody sees. However busy the machine is."""
    exercise = replace(exercise, run=replace(exercise.run, timeout=PATIENCE))
    judged, facts = examine(exercise), set[str]()
    for case in cases_of(exercise):
        (seen,) = runs(exercise, [NOTHING], case)
        fault = fault_of(seen, judged)
        assert fault is None, fault
        facts |= {line.partition(FACT)[2] for line in seen.printed.splitlines()}
    alive, mutated = list(meant(exercise, facts)), ""
    for case in cases_of(exercise):
        tried = [m for m in alive if m.tried(case, max(exercise.worlds))]
        for mutation, seen in zip(tried, runs(exercise, tried, case), strict=True):
            mutated += seen.printed
            if is_wrong(seen, judged):
                alive.remove(mutation)
    data = {m.name for m in alive if m.before and not m.name.endswith("on")}  # no case may have any to change
    return sorted(m.name for m in alive if m.name in data or f"{MUTATED}{m.name}\n" in mutated)


def meant(exercise: Exercise, facts: set[str]) -> Iterator[Mutation]:
    """``facts``: of arguments, by number, and of the result."""
    for number, name in enumerate(parameters(exercise)):
        yield from of_argument(number, name, {f.partition(" ")[2] for f in facts if f.startswith(f"{number} ")})
    for fact, mutation in OF_RESULTS.items():
        if f"result {fact}" in facts:
            yield mutation
    exact = exercise.values.wanted and not exercise.values.tolerance and not exercise.values.agrees
    if exact and facts & {"result float32", "result float64"}:
        yield BIT
    if not exercise.pure:
        yield from OF_RANKS
        yield from OF_ROOTS if {"src", "dst"} & set(parameters(exercise)) else ()
    elif "result number" in facts:
        yield from ALONE


def parameters(exercise: Exercise) -> list[str]:
    names = [name.partition("=")[0].strip() for name in exercise.parameters.split(",")]
    return [name for name in names if name and name != "group"]


def is_wrong(seen: Seen, judged: Callable[[Seen], Any]) -> bool:
    try:
        return fault_of(seen, judged) is not None
    except Exception:  # what cannot be compared is told so
        return True


def runs(exercise: Exercise, mutations: Sequence[Mutation], case: Case) -> list[Seen]:
    """The mutants, all in one run; each in its own where one raises, or is a process."""
    if not mutations:
        return []
    fns = [wrapped(exercise.reference_function(), m) for m in mutations]
    if is_kernel(exercise):
        return [alone(watched(exercise, m), exercise.reference_function(), case) for m in mutations]
    if len(fns) > 1 and (exercise.pure or not exercise.run.real_machine):
        with suppress(RunError), redirect_stdout(StringIO()):
            return observe_each(replace(exercise, reference=":"), fns, case)  # which would be refused
    return [alone(exercise, fn, case) for fn in fns]


def alone(exercise: Exercise, fn: Callable[..., Any], case: Case) -> Seen:
    with redirect_stdout(StringIO()):
        found = observe(exercise, fn, cases=[case], guarded=False, limit=PATIENCE)
    assert not found.problem, found.problem
    assert not found.signature, found.signature
    assert found.seen, "there was no time"
    return found.seen[0]


def cases_of(exercise: Exercise) -> list[Case]:
    """Of three ranks first: they show most."""
    every = [case for size in exercise.worlds for case in exercise.cases(size, seed(exercise.id, size))]
    return sorted(every, key=lambda case: (case.trivial, abs(case.size - 3)))


# ---- kernels of the warp machine, which reads their source: what goes in and what comes out is changed around them


def is_kernel(exercise: Exercise) -> bool:
    return exercise.reference.startswith("lockstep.simt.kernels:")


def watched(exercise: Exercise, mutation: Mutation) -> Exercise:
    return replace(exercise, run=replace(exercise.run, watch=around(exercise.run.watch, mutation)))


def around(watch: Any, mutation: Mutation) -> Callable[..., Any]:
    def watching(fn: Callable[..., Any], call: tuple[Any, ...]) -> dict[str, Any]:
        grid, block, given = call
        if not mutation.when(mutations.here(given)):
            return watch(fn, call)
        if mutation.notes:
            mutations.note(given, "")
            mutations.note(given[-1:], "result")
        found = watch(fn, (grid, block, mutations.changed(given, mutation.before, mutation.name)))
        kept = [torch.tensor(a) if isinstance(a, np.ndarray) else None for a in given[:-1]]
        return {**found, "arrays": kept, "result": mutations.changed(found["result"], mutation.after, mutation.name)}

    return watching
