"""Exercises of which a watch records a run of the learner's function, and rules judge what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Evidence, Rule, first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values, Watch
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen

Row = tuple[Any, ...]


def by_rules(
    tried: Mapping[str, Sequence[Row]],
    watch: Watch,
    facts: Callable[..., Evidence],
    values: Sequence[Rule],
    costs: Sequence[Rule] = (),
    run: Run | None = None,
    **fields: Any,
) -> Exercise:
    """A case for each of ``tried``, with a call for each of its rows. ``watch`` gets a row, and a seed behind it;
    ``facts`` gets both and what the watch has returned. Right values are worth nothing where there are ``costs``."""

    def inputs(case: Case, rank: int) -> list[Row]:
        return [(*row, case.seed + n) for n, row in enumerate(tried[str(case)])]

    def evidence(seen: Seen) -> list[Evidence]:
        calls = zip(inputs(seen.case, 0), seen.returned[0], strict=True)
        return [facts(*call, answer) for call, answer in calls]

    def judged(rules: Sequence[Rule], seen: Seen) -> Fault | None:
        fault = first(rules, *evidence(seen))
        return fault and replace(fault, message=f"With {seen.case}: {fault.message}")

    def broken(rules: Sequence[Rule], seen: Seen) -> list[str]:
        found = [first(rules, one) for one in evidence(seen)]
        return [fault.misconception if fault else "" for fault in found]

    return Exercise(
        cases=lambda ranks, seed: [Case(1, seed, settings={"told": told}) for told in tried],
        inputs=inputs,
        worlds=(1,),
        pure=True,
        values=Values(share=0.0 if costs else 1.0, examine=lambda seen: judged(values, seen)),
        costs=Costs(economise=lambda seen: [fault for fault in [judged(costs, seen)] if fault]),
        comparison=Comparison(
            alike=lambda seen: broken(values, seen), footprint=lambda seen: (broken(values, seen), broken(costs, seen))
        ),
        run=replace(run or Run(), watch=watch),
        **fields,
    )
