"""One step with a quorum, as torchft makes it: ranks have died, are behind, or fail; what is left goes on."""

from dataclasses import replace
from functools import partial

import torch

from lockstep.checks.budget import Budget
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import compare, told
from lockstep.exercises.horovod.quorums import (
    cases,
    decision,
    evidence,
    inputs,
    newest,
    told_gradients,
    up_to_date,
    wanted,
    watch,
)

RULES = (
    Rule("wrong-type", lambda e: not e["is_pair"], "rank {rank} returns {told}; a pair (weights, steps) is wanted."),
    Rule("never-reduces", lambda e: not e["reduced"], "rank {rank} never calls the all_reduce that it is given. "
         "Every rank of `group` does, with zeros if it is behind."),
    Rule("no-vote", lambda e: not e["votes"], "rank {rank} returns without a vote. The other ranks of its replica "
         "group wait for it: vote(False) tells them that something has failed here."),
    Rule("votes-again", lambda e: len(e["votes"]) > 1, "rank {rank} votes {votes}: a step has one vote."),
    Rule("votes-early", lambda e: e["early"], "rank {rank} votes before its all_reduce. That may still fail: vote "
         "after it."),
    Rule("votes-well", lambda e: e["failed"] and e["votes"] == [True], "rank {rank} votes True, though its all_reduce "
         "has raised RuntimeError.", telling=True),
    Rule("votes-against", lambda e: not e["failed"] and e["votes"] == [False], "rank {rank} votes False, though its "
         "all_reduce has gone well.", telling=True),
    Rule("wrong-type", lambda e: not e["is_count"], "rank {rank} returns {count!r} as the number of steps; an int is "
         "wanted."),
    Rule("wrong-values", lambda e: e["count"] != e["right"], "rank {rank} returns {steps}; it is {right}. The most in "
         "the quorum are {most}, and its replica group decides {kept}.", telling=True),
)  # fmt: skip


def examine(seen: Seen) -> Fault | None:
    rows = [{**row, "told": told(row["pair"])} for row in evidence(seen)]
    if fault := first(RULES, *rows):
        return replace(fault, message=f"With {seen.case}: {fault.message}")
    held = [row["pair"][0] for row in rows]
    want = [wanted(seen.case, rank)[0] for rank in seen.case.members]
    rounding = 1e-6 if seen.case.settings["dtype"] == "float32" else 1e-12
    forgivingly = [forgiven(h, w, rounding) for h, w in zip(held, want, strict=True)]
    fault = compare(seen, held, forgivingly)
    if fault is None or fault.misconception != "wrong-values":
        return fault
    close = partial(torch.allclose, rtol=rounding, atol=rounding)
    off = {
        rank: h
        for rank, h, w in zip(seen.case.members, held, want, strict=True)
        if decision(seen.case, rank) and not close(h, w)
    }
    first_one = dict(list(off.items())[:1])
    return replace(fault, aside=told_gradients(seen.case, off, close) or told_gradients(seen.case, first_one, close))


EXERCISE = Exercise(
    number=2, title="A step that survives", points=4, minutes=20,
    parameters="w, gradient, rate, steps, all_reduce, vote, group=None",
    reference="lockstep.data_parallel.fault_tolerant:fault_tolerant_step", cases=cases, inputs=inputs,
    worlds=(1, 2, 3, 4, 5), values=Values(examine=examine, share=0.75),
    costs=Costs(algorithm="such a step", budgets=(
        Budget("collectives", lambda case: 1, "one all-reduce"),
        Budget("barriers", lambda case: 0, advice="An all-reduce waits for all ranks as it is."),
        Budget("collective bytes", lambda case: newest(case).nbytes),
        Budget("all messages", lambda case: case.size - len(up_to_date(case)), "one to each rank that is behind"),
        Budget("all bytes", lambda case: (case.size - len(up_to_date(case))) * newest(case).nbytes),
    )),
    comparison=Comparison(alike=lambda seen: [seen.returned[rank] for rank in seen.case.members]),
    run=Run(watch=watch, timeout=2.5),
)  # fmt: skip
