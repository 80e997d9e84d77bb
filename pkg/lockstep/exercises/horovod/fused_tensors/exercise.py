"""Which tensors did Horovod reduce together? Asked of timelines that it wrote, with other names, rows and times."""

from dataclasses import replace
from random import Random

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Exercise, Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.horovod.timelines import at_once, evidence, holding, recorded, touching, varied
from lockstep.with_horovod.timeline import Timeline, fused_tensors

TOLD = {  # the name of the case for each recorded timeline
    "fused": "three steps, all fused",
    "unfused": "one step, nothing fused",
    "a threshold": "two steps, fused two by two",
    "late tensors": "two steps with tensors that are late",
    "one rank": "two steps of a single rank",
    "other operations": "broadcasts and all-gathers beside",
    "training": "a training with DistributedOptimizer",
}
BRIEF = "operations that take less than a microsecond"
HOLDING = "something else that begins and ends within an all-reduce"
CHANGED = {"a threshold": BRIEF, "fused": HOLDING}
RULES = (
    Rule("wrong-type", lambda e: e["type"], "it returns {type}; a list of lists of names is wanted."),
    Rule("row-numbers", lambda e: e["number"] is not None, "{number} is the number of a row. Its tensor's name is in "
         'the event "process_name" of that row.'),
    Rule("no-tensor", lambda e: e["foreign"], "{foreign!r} is the name of no tensor."),
    Rule("other-operations", lambda e: e["other"], "{other!r} is in your answer, but no all-reduce carried it: its "
         "row has {phase}."),
    Rule("twice-in-one", lambda e: e["twice"], "{twice!r} stands twice in one list. An operation carries a tensor "
         "once; in the next step it is another operation."),
    Rule("counted-twice", lambda e: e["surplus"], "{surplus!r} was all-reduced {times[1]}, and stands in "
         "{times[0]}. An all-reduce has several spans on a row, one after or within the other: look at one of them."),
    Rule("loses-single-tensors", lambda e: e["alone"], "{alone!r} is missing: it was alone in its operation. Such "
         "a one needs no fusion buffer, and it is an all-reduce, too."),
    Rule("each-tensor-once", lambda e: e["once"], "{once!r} was all-reduced {times[1]}, in each step anew, and stands "
         "in your answer once."),
    Rule("lost", lambda e: e["missing"], "{missing!r} was all-reduced {times[1]}, and stands in {times[0]}."),
    Rule("lost", lambda e: e["brief"], "{brief!r} was all-reduced {times[1]}, and stands in {times[0]}. A "
         "GLOO_ALLREDUCE of its ends in the microsecond in which it begins."),
    Rule("joined", lambda e: e["joined"], "{joined[0]!r} and {joined[1]!r} stand in one list, but no operation carried "
         "both. The former's first GLOO_ALLREDUCE ended at {ends} µs; after that the latter's began, at {begins} µs."),
    Rule("parted", lambda e: e["within"], "{parted[0]!r} and {parted[1]!r} stand in different lists, but one operation "
         "carried both. Within GLOO_ALLREDUCE, {within} begins and ends on their rows: an end event ends what began "
         "last on its row, and has not ended."),
    Rule("parted", lambda e: e["parted"], "{parted[0]!r} and {parted[1]!r} stand in different lists, but one operation "
         "carried both: GLOO_ALLREDUCE has begun on both rows, the last time at {begins} µs, before it ends on either, "
         "at {ends} µs. Of equal times the order of the events decides."),
    Rule("wrong-lists", lambda e: e["unlike"], "the list {unlike} stands in your answer {times[0]}; there is such an "
         "operation {times[1]}."),
    Rule("wrong-order", lambda e: e["late"], "each list is right, but they are not in order of time: {late} was "
         "carried out before {early}."),
    Rule("unsorted", lambda e: e["unsorted"], "the operations are right, but a list is not sorted: {unsorted}."),
)  # fmt: skip
EARNED = {"wrong-order": 0.5, "unsorted": 0.5}
HINTS = (
    ("KeyError: 'name'", 'An event "E" has no name. Row 0, which is no tensor, has none in its args.'),
    ("KeyError: 'pid'", 'An event "i", the mark of a cycle, has no pid.'),
)


def timelines(case: Case, rank: int) -> list[tuple[Timeline]]:
    dice = Random(case.seed)
    first, second = (varied(recorded(case.settings["of"]), dice) for _ in range(2))
    if change := {BRIEF: at_once, HOLDING: holding}.get(str(case)):
        return [(change(first),)]
    return [(first,), (touching(second, dice),)]


def examine(seen: Seen) -> Fault | None:
    calls = zip(seen.returned[0], timelines(seen.case, 0), strict=True)
    fault = first(RULES, *(evidence(answer, timeline) for answer, (timeline,) in calls))
    named = fault and replace(fault, message=f"With {seen.case}: {fault.message}", telling=True)
    return named and replace(named, earned=EARNED.get(named.misconception, 0.0))


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(1, seed, None, {"told": told, "of": of}) for of, told in (*TOLD.items(), *CHANGED.items())]


EXERCISE = Exercise(
    number=4,
    core=False,
    title="What was fused?",
    points=3,
    minutes=15,
    parameters="timeline",
    reference="lockstep.with_horovod.timeline:fused_tensors",
    cases=cases,
    inputs=timelines,
    worlds=(1,),
    pure=True,
    values=Values(
        examine=examine,
        wanted=lambda case: [fused_tensors(*call) for call in timelines(case, 0)],
        share=1.0,
    ),
    feedback=Feedback(hints=HINTS),
)
