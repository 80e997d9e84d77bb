"""Adam's state on the host: judged by torch's Adam after each step, by what the host has, and by what is held."""

from dataclasses import replace
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.fsdp.watched_host import Given, about, drawn, first_wrong, observed

TRIED: dict[str, Any] = {  # numbers of each layer, steps, how large the gradients are, from which step on one is zeros
    "6 layers of one size": ([500] * 6, 3),
    "6 layers of many sizes": ([40, 700, 1, 350, 900, 8], 4),
    "gradients as small as Adam's ε": ([60] * 5, 2, 1e-8),
    "gradients of layer 1 that are zeros from step 3 on": ([50] * 3, 4, 1.0, 3),
    "one layer": ([300], 3),
}
ROOM = 6  # times the largest layer: its m and v, and four more
WHY = (
    Rule("uses-an-optimizer", lambda e: e["optimizer"], "you call step() of torch's {optimizer}. Here you write Adam's "
         "step yourself.", telling=True),
    Rule("not-in-place", lambda e: e["stands"], "the parameters are as they were. Change the given tensors: "
         "w.sub_(...) or w -= ..., not w = w - ...", telling=True),
    Rule("wrong-values", lambda e: e["wrong"] == "w", "after step {step} number {at} of layer {layer}'s parameters is "
         "{is:.6g}, not {want:.6g}. {state}{still}", telling=True),
    Rule("wrong-values", lambda e: e["wrong"], "the parameters are right after step {step}, but on the host number "
         "{at} of layer {layer}'s {wrong} is {is:.6g}, not {want:.6g}.{still}", telling=True),
)  # fmt: skip
COSTS = (
    Rule("too-many-layers-held", lambda e: e["most"] > 1, "m and v of {most} layers are on the device at once. Let go "
         "of them before the next load."),
    Rule("not-offloaded", lambda e: e["left"], "m or v of {left} layer is still on the device when you have returned."),
    Rule("too-many-bytes-held", lambda e: e["held"] > ROOM * e["largest"], "{held:,} bytes are held at once beside "
         "what was given; the largest layer has {largest:,}, and six times that is enough: its m, its v and four more. "
         "Compute in place, in float32, and name few results in between; keep nothing of a layer that is done."),
    Rule("too-many-calls", lambda e: e["often"], "the {often} comes more than once in a step."),
    Rule("too-few-calls", lambda e: e["missing"], "there is a step without the {missing}. The state lives on the host: "
         "it comes from there in each step, and goes back."),
)  # fmt: skip


def given(case: Case) -> Given:
    return drawn(case.seed, *TRIED[str(case)])


def told(rules: tuple[Rule, ...], seen: Seen) -> list[Fault]:
    facts = seen.returned[0][0]
    fault = first(rules, facts | first_wrong(facts, *given(seen.case)) | {"layers": len(facts["after"][0])})
    return [replace(fault, message=f"With {seen.case}, {fault.message}")] if fault else []


EXERCISE = Exercise(
    number=9,
    core=False,
    title="Let Adam's state live on the host",
    points=3,
    minutes=20,
    worlds=(1,),
    pure=True,
    parameters="parameters, gradients, host, step, rate",
    reference="lockstep.sharded.offload:offload",
    inputs=lambda case, rank: [given(case)],
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t == "one layer"}) for t in TRIED],
    values=Values(examine=lambda seen: next(iter(told(WHY, seen)), None), share=0.6, may_change=["parameters.values"]),
    costs=Costs(economise=lambda seen: told(COSTS, seen)),
    comparison=Comparison(
        alike=lambda seen: about(seen.returned[0][0]),
        footprint=lambda seen: [seen.returned[0][0][name] for name in ("calls", "most", "left")],
    ),
    run=Run(watch=lambda fn, call: observed(fn, *call)),
)
