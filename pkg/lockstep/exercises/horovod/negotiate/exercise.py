"""Horovod's coordinator: judged by when each tensor changes, and by the control messages besides the all-reduces."""

from dataclasses import replace

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.horovod.coordinated import SMALLEST, case_of, evidence, inputs, kept, said, sums, watch
from lockstep.experiments.horovod.control_messages import messages

MORE = {2: {"alike": True}, 3: {"together": True}, 4: {"alike": True}}  # by ranks
RULES = (
    Rule("takes-cycles-early", lambda e: e["at"] is not None, "rank {rank} takes its cycle {at}, and {name!r} is not "
         "all-reduced yet. Since cycle {since} it is ready on every rank: all-reduce it in that cycle, and only then "
         "take the next one. Each next(cycles, None) takes one; list(cycles) takes all.", telling=True),
    Rule("reduces-early", lambda e: e["early"] is not None, "{name!r} is all-reduced in cycle {early} of rank {rank}: "
         "too early. On another rank it is ready later."),
    Rule("wrong-type", lambda e: not isinstance(e["order"], list), "rank {rank} does not return a list of names."),
    Rule("other-names", lambda e: sorted(map(str, e["order"])) != e["names"], "rank {rank} returns a list that does "
         "not hold each of the {tensors} names once.", telling=True),
    Rule("wrong-order", lambda e: e["order"] != e["first"], "rank {rank} returns another order than rank 0 of "
         "the group. Return the names in the order in which they are all-reduced.", telling=True),
)  # fmt: skip
COSTS = (
    Rule("tensors-travel", lambda e: e["bytes"] >= SMALLEST, "a {kind} has {bytes:,} bytes a rank. Tell rank 0 the "
         "names; each tensor has an all-reduce of its own, and nothing else carries it."),
    Rule("not-all-reduced", lambda e: not e["alone"] and e["all_reduces"] != e["tensors"], "rank {rank} makes "
         "{all_reduces} all-reduces of tensors; {tensors} are needed, one for each."),
    Rule("wrong-order", lambda e: not e["alone"] and e["reduced"] != [e["sizes"][name] for name in e["order"]],
         "rank {rank} returns the names in another order than it all-reduces them.", telling=True),
)  # fmt: skip
CONTROL = Measure(lambda seen: sum(map(messages, said(seen))), "control message", "there are {}", "{} in all",
                  "control messages")  # fmt: skip
HINTS = (
    ("crashed:Mismatch", "All ranks of the group all-reduce the same tensors in the same order: the one that rank 0 "
     "answers."),
    ("crashed:Deadlock", "A rank whose cycles are over still takes part: others may have tensors that it has had ready "
     "for long. All stop in the same cycle, and rank 0 says in which."),
    (r"has no len\(\)|not subscriptable|StopIteration", "next(cycles, None) is the next cycle, or None when this rank "
     "has no more: others may have."),
    (r"^KeyError", "This rank does not have that name ready yet. Rank 0 answers a name when every rank has told it."),
)  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    """Different cycles everywhere; by turns tensors of one shape, and tensors that are ready in the same cycles."""
    more = [case_of(ranks, seed + 10, None, **MORE[ranks])] if ranks in MORE else []
    return [case_of(ranks, seed + n, group) for n, group in enumerate(groups(ranks))] + more


def most(case: Case) -> int:
    return 2 * (case.size - 1) * (max(map(len, case.settings["cycles"])) + 1)


def examine(seen: Seen) -> Fault | None:
    case, wanted = seen.case, sums(seen.case)
    for n, name in enumerate(wanted):
        fault = compare(seen, [seen.returned[r]["held"][n] for r in case.members], [wanted[name]] * case.size)
        if fault:
            return replace(fault, message=f"{fault.message} This is {name!r}{kept(seen, name)}.")
    return next(iter(told(seen, RULES)), None)


def told(seen: Seen, rules: tuple[Rule, ...]) -> list[Fault]:
    fault = first(rules, *evidence(seen))
    return [replace(fault, message=f"With {seen.case}: {fault.message}")] if fault else []


EXERCISE = Exercise(
    number=3,
    core=False,
    title="Negotiate",
    points=5,
    minutes=35,
    parameters="cycles, group=None",
    reference="lockstep.with_horovod.negotiation:negotiate",
    cases=cases,
    inputs=inputs,
    values=Values(examine=examine, may_change=["cycles.values"]),
    costs=Costs(
        algorithm="a coordinator",
        economise=lambda seen: told(seen, COSTS),
        budgets=[
            Budget("barriers", lambda case: 0, advice="Who has the answer of rank 0 can go on."),
            Budget(CONTROL, most, "2(K-1) a cycle, and as many to stop", advice="A gather and a broadcast suffice."),
        ],
    ),
    run=Run(
        watch=watch,
        timeout=4.0,
        any_source=True,  # pickled names are in the host's memory, and so is all else
    ),
    feedback=Feedback(hints=HINTS),
)
