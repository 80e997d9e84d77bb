"""Adam's state on the host: judged by torch's Adam after each step, by what the host has, and by what is held."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.rules import Evidence, Rule, first
from lockstep.sharded.watched_host import observed

TINY = "gradients as small as Adam's ε"
TRIED = {  # numbers of each layer, steps
    "6 layers of one size": ([500] * 6, 3),
    "6 layers of many sizes": ([40, 700, 1, 350, 900, 8], 4),
    TINY: ([60] * 5, 2),
    "one layer": ([300], 3),
}
ROOM = 6  # times the largest layer: its m and v, and four more
WHY = (
    Rule("not-in-place", lambda e: e["stands"], "the parameters are as they were. Change the given tensors: "
         "w.sub_(...) or w -= ..., not w = w - ...", telling=True),
    Rule("changes-gradients", lambda e: not e["gradients"], "the gradients are changed. Leave them.", telling=True),
    Rule("wrong-values", lambda e: e["wrong"] == "w", "after step {step} number {at} of layer {layer}'s parameters is "
         " {held:.6g}, not {want:.6g}.", telling=True),
    Rule("wrong-values", lambda e: e["wrong"], "the parameters are right after step {step}, but on the host number {at} "
         "of layer {layer}'s {wrong} is {held:.6g}, not {want:.6g}.", telling=True),
)  # fmt: skip
COSTS = (
    Rule("too-many-layers-held", lambda e: e["most"] > 1, "m and v of {most} layers are on the device at once. Let go of "
         "them before the next load."),
    Rule("not-offloaded", lambda e: e["left"], "m or v of {left} layer is still on the device when you have returned."),
    Rule("too-many-bytes-held", lambda e: e["held"] > ROOM * e["largest"], "{held:,} bytes are held at once beside what was "
         "given; one layer has {largest:,}, and six times that is enough."),
    Rule("too-many-calls", lambda e: max(map(len, e["calls"])) > 2 * e["layers"], "load and store are called more than "
         "once for a layer in a step."),
)  # fmt: skip


def inputs(case: Case, rank: int) -> list[tuple[list[Tensor], list[list[Tensor]], float]]:
    """Parameters, gradients of each step, and the rate."""
    (sizes, steps), drawn = TRIED[str(case)], torch.Generator().manual_seed(case.seed)
    scale = 1e-8 if str(case) == TINY else 1.0
    gradients = [[torch.randn(n, generator=drawn) * scale for n in sizes] for _ in range(steps)]
    return [([torch.randn(n, generator=drawn) for n in sizes], gradients, 0.0625)]


def right(case: Case) -> Iterator[tuple[int, int, str, Tensor]]:
    """Step, layer, "w", "m" or "v", and what it is, as torch's Adam has it; of a step the parameters first."""
    ((given, gradients, rate),) = inputs(case, 0)
    parameters = [w.requires_grad_() for w in given]
    adam = torch.optim.Adam(parameters, lr=rate)
    for step, of_layers in enumerate(gradients):
        for w, g in zip(parameters, of_layers, strict=True):
            w.grad = g
        adam.step()
        yield from ((step, layer, "w", w.detach().clone()) for layer, w in enumerate(parameters))
        states = [adam.state[w] for w in parameters]
        names = {"m": "exp_avg", "v": "exp_avg_sq"}
        yield from ((step, i, n, s[names[n]].clone()) for i, s in enumerate(states) for n in names)


def facts(seen: Seen) -> Evidence:
    """With the first number that is wrong."""
    e, ((given, *_),) = seen.returned[0][0], inputs(seen.case, 0)
    found = {"wrong": "", "layers": len(given), "stands": all(map(torch.equal, e["after"][0], given))}
    for step, layer, name, want in right(seen.case):
        held = e["after"][step][layer] if name == "w" else e["state"][step][layer]["mv".index(name)]
        held = held if held.shape == want.shape else torch.full_like(want, torch.nan)
        off = (~torch.isclose(held, want, rtol=1e-5, atol=float(1e-6 * want.abs().max()))).nonzero().flatten().tolist()
        if off:
            at = {"held": held[off[0]].item(), "want": want[off[0]].item(), "at": off[0]}
            return {**e, **found, "wrong": name, "step": step + 1, "layer": layer, **at}
    return {**e, **found}


def told(rules: tuple[Rule, ...], seen: Seen) -> list[Fault]:
    fault = first(rules, facts(seen))
    return [replace(fault, message=f"With {seen.case}, {fault.message}")] if fault else []


def alike(seen: Seen) -> list[str]:
    """What is left, but for rounding, and what was called."""
    e = seen.returned[0][0]
    tensors = [t for of_step in e["after"] for t in of_step] + [t for s in e["state"] for mv in s for t in mv]
    return [f"{t.double().abs().sum():.3g}" for t in tensors] + sorted(e["calls"][0])


EXERCISE = Exercise(
    number=8, core=False, title="Let Adam's state live on the host", points=3, minutes=20, worlds=(1,), pure=True,
    parameters="parameters, gradients, host, step, rate", reference="lockstep.sharded.hosted:offload", inputs=inputs,
    cases=lambda ranks, seed: [Case(1, seed, None, {"told": t, "trivial": t == "one layer"}) for t in TRIED],
    watch=lambda fn, call: observed(fn, *call), examine=lambda seen: next(iter(told(WHY, seen)), None),
    economise=lambda seen: told(COSTS, seen), alike=alike, values=0.6,
    footprint=lambda seen: [seen.returned[0][0][name] for name in ("calls", "most", "left")],
)  # fmt: skip
