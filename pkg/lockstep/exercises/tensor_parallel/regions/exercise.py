"""f and g: their values, the gradients that they let through, alone and in a chain, and what each pass sends."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told, total
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.tensor_parallel.differences import summands, told_apart
from lockstep.exercises.tensor_parallel.layer_steps import footprint, in_turn, marked, rounded, unmarked
from lockstep.exercises.without_waiting.evidence import case

SHAPES = {"a matrix": (3, 4), "a number": (), "an empty tensor": (0, 3), "a vector": (5,)}
FINE = 2**-24
TURNED, EXPANDED = "a matrix, transposed in memory on odd ranks", "a matrix whose gradient is one number, expanded"
ZEROS = "a matrix, all zeros on rank 1"
TRIED: dict[int, Sequence[str]] = {
    1: ["a matrix"], 2: [EXPANDED, "a number"], 3: [TURNED, "an empty tensor", ZEROS], 4: ["a matrix"],
}  # fmt: skip
PASSES = [("f", "forward", 0), ("f", "backward", 1), ("g", "forward", 1), ("g", "backward", 0)]  # and their all-reduces
LOOKED_AT = {  # what is found, and its name in sentences, in the order of reporting
    "f": "f(x)", "g": "g(x)", "constant": "f(x) of an x that needs no gradient", "dx f": "the gradient of x in f(x)",
    "dx g": "the gradient of x in g(x)", "dx both": "the gradient of x in x + f(x)",
    "chain": "g(b·f(g(a·f(x))))", "dx chain": "the gradient of x in g(b·f(g(a·f(x))))",
    "g kept": "what g(x) returned, after later calls of g",
}  # fmt: skip
KEPT = {
    "x f": "f changes x. Leave it as it is.", "x g": "g changes x. Add up a copy.",
    "dy f": "f changes the gradient that arrives. Others may need it: add up a copy.",
    "dy g": "g changes the gradient that arrives. Leave it as it is.",
}  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(group, kind) for group in groups(ranks) for kind in (["a vector"] if group else TRIED[ranks])]
    return [case(ranks, seed + n, group, kind, kind=kind) for n, (group, kind) in enumerate(rows)]


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    """x, what arrives in the backward pass, a and b: whole numbers, of each rank others; and its kind. x and dy have
    a bit for which float32 has no room."""
    kind, dice = case.settings["kind"], generator(case, rank)
    x, dy = (torch.randint(-9, 10, SHAPES.get(kind, (3, 4)), generator=dice).double() + FINE for _ in range(2))
    a, b = (torch.randint(1, 6, (), generator=dice).double() for _ in range(2))
    if kind == ZEROS and rank == 1:
        x, dy = torch.zeros_like(x), torch.zeros_like(dy)
    if kind == TURNED and rank % 2:
        x, dy = (t.t().contiguous().t() for t in (x, dy))
    return x, torch.ones_like(dy) if kind == EXPANDED else dy, a, b, kind == EXPANDED


def observed(fn: Callable[..., Any], given: tuple[Any, ...]) -> dict[str, Any]:
    """On a rank: what f and g give and let through. What isn't a pair of functions is told as it is; what gives no
    tensor like x, only so far."""
    x, dy, a, b, expanded = given
    pair = fn()
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(callable, pair))):
        return {"pair": plain(pair)}
    found: dict[str, Any] = {}
    mark = marked(x)
    for name, region in zip("fg", pair, strict=True):
        leaf, arriving = x.detach().clone().requires_grad_(), dy.clone()
        out = region(leaf)
        mark()
        found[name], found[f"x {name}"] = copied(out), leaf.detach().clone()
        if not (isinstance(out, Tensor) and out.shape == x.shape):
            return found
        backward(out.sum() if expanded else out, torch.ones(()).to(x) if expanded else arriving)
        mark()
        found[f"dx {name}"], found[f"dy {name}"] = leaf.grad, arriving
    f, g = pair
    kept = g(x.clone())
    found["constant"] = copied(f(x.clone()))
    found["dx both"] = through(lambda leaf: leaf + f(leaf), x, dy)[1]
    found["chain"], found["dx chain"] = through(lambda leaf: g(b * f(g(a * f(leaf)))), x, torch.ones_like(x))
    found["g kept"] = copied(kept)
    return found


def through(make: Callable[[Tensor], Any], x: Tensor, dy: Tensor) -> tuple[Any, Any]:
    leaf = x.detach().clone().requires_grad_()
    out = make(leaf)
    backward(out, dy.clone())
    return copied(out), leaf.grad


def backward(out: Any, dy: Tensor) -> None:
    if isinstance(out, Tensor) and out.requires_grad and out.shape == dy.shape:
        torch.autograd.backward(out, dy)


def copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else plain(value)


def wanted(case: Case) -> list[dict[str, Tensor]]:
    given = [inputs(case, rank) for rank in case.members]
    x, dy, a, b, ax = (total(row) for row in zip(*((x, dy, a, b, a * x) for x, dy, a, b, _ in given), strict=True))
    both = {"g": x, "g kept": x, "dx f": dy, "chain": b * ax, "dx chain": torch.ones_like(x) * a * b}
    own = ({"f": x, "constant": x, "dx g": d, "dx both": d + dy, "x f": x, "x g": x, "dy f": d, "dy g": d}
           for x, d, *_ in given)  # fmt: skip
    return [{**both, **mine} for mine in own]


def examine(seen: Seen) -> Fault | None:
    case = seen.case
    rows = [(rank, seen.returned[rank], want) for rank, want in zip(case.members, wanted(case), strict=True)]
    for rank, found, _ in rows:
        if "pair" in found:
            asked = "a pair of functions, (f, g), is wanted"
            return Fault("wrong-type", f"With {case}, rank {rank} returns {told(found['pair'])}; {asked}.")
    for name, said in LOOKED_AT.items():
        for rank, found, want in rows:
            if fault := differs(case, f"{said} on rank {rank}", found[name], want[name]):
                more = summands([other[name] for _, other, _ in rows], want[name]) if name in ("g", "dx f") else ""
                return replace(fault, message=fault.message + more)
    for name, said in KEPT.items():
        for rank, found, want in rows:
            if not torch.equal(found[name], want[name]):
                return Fault("changes-in-place", f"With {case}, on rank {rank}: {said}", telling=True)
    return None


def differs(case: Case, what: str, held: Any, want: Tensor) -> Fault | None:
    if held is None:
        return Fault(
            "no-gradient", f"With {case}, {what} doesn't exist: autograd finds no way back to x.", telling=True
        )
    if not isinstance(held, Tensor) or (held.shape, held.dtype) != (want.shape, want.dtype):
        alike = f"a tensor of the shape {tuple(want.shape)}, {want.dtype}, is wanted"
        return Fault("wrong-type", f"With {case}, {what} is {told(held)}; {alike}.", telling=True)
    off = told_apart(held, want, case.size)
    return Fault("wrong-values", f"With {case}, in {what}, {off}") if off else None


def alike(seen: Seen) -> list[Any]:
    own = [seen.returned[rank] for rank in seen.case.members]
    return [[rounded(found.get(name)) for name in (*LOOKED_AT, *KEPT)] for found in own]


def costs(turn: int, region: str, way: str, calls: int) -> tuple[Budget, Budget]:
    def nbytes(case: Case) -> int:
        return calls * int(inputs(case, case.members[0])[0].nbytes)

    told = f"{region}'s {way} pass"
    return in_turn(turn, f"{region} {way}", told, calls, nbytes, "those of x" if calls else "")


EXERCISE = Exercise(
    number=1,
    title="f and g",
    points=3,
    minutes=15,
    parameters="group=None",
    worlds=(1, 2, 3, 4),
    reference="lockstep.tensor_parallel.f_and_g:regions",
    cases=cases,
    inputs=inputs,
    values=Values(examine=examine),
    costs=Costs(budgets=[budget for turn in range(len(PASSES)) for budget in costs(turn, *PASSES[turn])]),
    comparison=Comparison(alike=alike, footprint=footprint),
    run=Run(timeout=2.5, watch=observed),
    feedback=Feedback(picture=unmarked),
)
