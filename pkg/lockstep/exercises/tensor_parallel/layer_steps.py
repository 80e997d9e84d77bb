"""A step of a layer, as this unit's checks make it: forward, a mark in the trace, backward. Each rank's output and
gradients are compared with those of one rank; what a pass sends, and what all ranks compute, is counted.

    LAYER = Layer("x A a B b", serial, drawn, inside={"A": along(1, "columns"), "B": along(0, "rows")})
    EXERCISE = LAYER.exercise(number=2, ..., costs=Costs(budgets=(*passes(1, nbytes, "n·h"), flops(...))))

``seen.returned[rank]`` is {"out": what it returns, "followed": whether autograd knows how it came about,
"gradients": one for each argument, None for those that ask for none or get none}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.checks.budget import Budget, Measure
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.reach import reached
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import compare
from lockstep.events import COLLECTIVES, Event, Trace
from lockstep.exercises.tensor_parallel.differences import (
    ROUNDING,
    added_up,
    close,
    in_place_of,
    rounded_away,
    summands,
    times,
    told_apart,
    too_much,
)
from lockstep.show.timeline import timeline
from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region, share

MARK = 17  # bytes of a broadcast to nobody else, which separates forward and backward
NORMS = ("norm", "var", "std", "rsqrt")  # in the names of what a norm computes
DIGITS = 8  # after the point: gradients that agree in these are one and the same mistake
FORWARD, BACKWARD = 0, 1  # turns, with a mark between them


class Part(NamedTuple):
    """``of(case, r, whole)`` is an index: the part of ``whole`` that member r has. Where that is no tensor, it is the
    part itself. ``told`` is its name."""

    of: Callable[[Case, int, Any], Any]
    told: str = "part"


def along(dim: int, told: str = "part") -> Part:
    """A member's share of dimension ``dim``, as even as can be."""
    return Part(lambda case, r, whole: (slice(None),) * dim + (share(whole.shape[dim], case.size, r),), told)


@dataclass(frozen=True)
class Layer:
    """``serial(*arguments)`` is what one rank computes of the whole arguments, ``drawn(case)``, by ``names``.

    inside    arguments of which each rank has the gradient of this part, zero elsewhere; all ranks' add up
    given     arguments of which a rank is given its part only, and has that part's gradient; "out": what it returns
    mistaken  what else one rank may compute, by what is then to be said
    own_dy    whether the gradients that arrive at the ranks' outputs differ: then one rank gets their sum

    All other arguments have their whole gradient on every rank. A case's setting "constant" names arguments that ask
    for no gradient, and "times" is what arrives at the output, if it isn't drawn."""

    names: str
    serial: Callable[..., Tensor]
    drawn: Callable[[Case], Sequence[Any]]
    inside: Mapping[str, Part] = field(default_factory=dict)
    given: Mapping[str, Part] = field(default_factory=dict)
    mistaken: Mapping[str, Callable[..., Tensor]] = field(default_factory=dict)
    own_dy: bool = False

    def exercise(self, **fields: Any) -> Exercise:
        return Exercise(
            inputs=self.inputs,
            values=Values(examine=self.examine),
            comparison=Comparison(alike=alike, footprint=footprint),
            run=Run(watch=WATCH, timeout=2.5),
            feedback=Feedback(picture=unmarked),
            **fields,
        )

    def inputs(self, case: Case, rank: int) -> tuple[Any, ...]:
        """A rank's arguments; and, for ``watch``, what arrives at its output and which of them ask for gradients."""
        r, names = case.members.index(rank) if rank in case.members else 0, self.names.split()
        arguments = [self._part(name, case, r, a) for name, a in zip(names, self.drawn(case), strict=True)]
        return (*arguments, (self._part("out", case, r, self._dy(case, r)), self._asks(case)))

    def examine(self, seen: Seen) -> Fault | None:
        """The outputs, then each argument's gradients, in the arguments' order."""
        case, own = seen.case, [seen.returned[rank] for rank in seen.case.members]
        out, gradients = self.wanted(case)
        parts = [self._part("out", case, r, out) for r in range(case.size)]
        held = [mine["out"] for mine in own]
        if fault := _compared(seen, held, parts):
            return (
                replace(fault, aside=self._aside(case, held, parts)) if fault.misconception == "wrong-values" else fault
            )
        if lost := [rank for rank, mine in zip(case.members, own, strict=True) if not mine["followed"]]:
            told = f"what rank {lost[0]} returns is right, but autograd doesn't know how it came about"
            return Fault("unknown-to-autograd", f"With {case}: {told}, so there is no backward pass.", telling=True)
        for n, (name, asks) in enumerate(zip(self.names.split(), self._asks(case), strict=True)):
            held = [mine["gradients"][n] for mine in own]
            if asks and (fault := self._gradients(seen, name, held, gradients[n])):
                return replace(fault, telling=True)
        return None

    def wanted(self, case: Case) -> tuple[Tensor, list[Any]]:
        """One rank's output, and its gradients, of the whole arguments."""
        drawn, asks = self.drawn(case), self._asks(case)
        leaves = [
            a.clone().requires_grad_(ask) if isinstance(a, Tensor) else a for a, ask in zip(drawn, asks, strict=True)
        ]
        out = self.serial(*leaves)
        arriving = [self._dy(case, r) for r in range(case.size if self.own_dy else 1)]
        torch.autograd.backward(out, torch.stack(arriving).sum(0))
        return out.detach(), [leaf.grad if ask else None for leaf, ask in zip(leaves, asks, strict=True)]

    def _aside(self, case: Case, held: list[Tensor], parts: list[Tensor]) -> str:
        """What the outputs have to do with one of the arguments."""
        names, drawn = self.names.split(), self.drawn(case)

        def fits(out: Tensor) -> bool:
            return all(close(h, self._part("out", case, r, out)) for r, h in enumerate(held))

        if mistake := next((said for said, serial in self.mistaken.items() if fits(serial(*drawn))), ""):
            return mistake
        if by := times(torch.stack(held), torch.stack(parts), case.size):
            return by.strip()
        r = next(r for r, (h, part) in enumerate(zip(held, parts, strict=True)) if not close(h, part))
        given = [self._part(name, case, r, a) for name, a in zip(names, drawn, strict=True)]
        swapped = partial(in_place_of, self.serial, names, drawn, fits)
        found = swapped(1) or too_much(case.members[r], held[r], parts[r], names, given) or swapped(case.size)
        return found or rounded_away(held[r], parts[r]).strip()

    def _gradients(self, seen: Seen, name: str, held: list[Any], want: Tensor) -> Fault | None:
        """Of one argument, by member of the group."""
        case = seen.case
        if name in self.inside:
            return self._in_parts(case, name, [torch.zeros_like(want) if mine is None else mine for mine in held], want)
        parts = [self._part(name, case, r, want) for r in range(case.size)]
        for rank, mine, part in zip(case.members, held, parts, strict=True):
            if mine is None:
                told = f"rank {rank} finds no gradient of {name}: autograd knows no way from the output to {name}"
                return Fault("no-gradient", f"With {case}: {told}.")
            if off := told_apart(mine, part, case.size):
                more = added_up(held, parts) if name in self.given else summands(held, want)
                return Fault("wrong-gradient", f"With {case}, in the gradient of {name} on rank {rank}, {off}{more}")
        return None

    def _in_parts(self, case: Case, name: str, held: list[Tensor], want: Tensor) -> Fault | None:
        part = self.inside[name]
        for r, mine in enumerate(held):
            elsewhere = mine.clone()
            elsewhere[part.of(case, r, want)] = 0
            if elsewhere.any():
                told = f"rank {case.members[r]} finds a gradient of {name} outside of its own {part.told} of {name}"
                return Fault("not-its-part", f"With {case}: {told}. There it should be zero.")
        if off := told_apart(torch.stack(held).sum(0), want, case.size):
            return Fault("wrong-gradient", f"With {case}, in the sum of all ranks' gradients of {name}, {off}")
        return None

    def _part(self, name: str, case: Case, r: int, whole: Any) -> Any:
        if name not in self.given:
            return whole
        part = self.given[name].of(case, r, whole)
        return whole[part].clone() if isinstance(whole, Tensor) else part

    def _asks(self, case: Case) -> list[bool]:
        names, constant = self.names.split(), case.settings.get("constant", "").split()
        floats = [isinstance(a, Tensor) and a.is_floating_point() for a in self.drawn(case)]
        return [ask and name not in constant for name, ask in zip(names, floats, strict=True)]

    def _dy(self, case: Case, r: int) -> Tensor:
        """What arrives at the whole output: as drawn, alike on all ranks or not; or what the case says."""
        shape = self.serial(*self.drawn(case)).shape
        if "times" in case.settings:
            return torch.full(shape, case.settings["times"], dtype=torch.float64)
        return torch.randn(shape, generator=generator(case, -1 - (r if self.own_dy else 0)), dtype=torch.float64)


def watch(fn: Callable[..., Any], given: tuple[Any, ...], allowed: set[Any]) -> dict[str, Any]:
    """On a rank: the forward pass, a mark, the backward pass. What a watch holds, the guard leaves open: so answers may
    call what of the library is ``allowed``."""
    *arguments, (dy, asks) = given
    leaves = [a.detach().requires_grad_() if ask else a for a, ask in zip(arguments, asks, strict=True)]
    mark = marked(dy)
    out = fn(*leaves)
    mark()
    followed = isinstance(out, Tensor) and out.requires_grad
    kept = out.detach().clone() if isinstance(out, Tensor) else plain(out)
    if followed and out.shape == dy.shape and out.dtype == dy.dtype:
        torch.autograd.backward(out, dy.clone())
    gradients = [leaf.grad if ask else None for leaf, ask in zip(leaves, asks, strict=True)]
    return {"out": kept, "followed": followed, "gradients": gradients}


F_AND_G = reached((copy_to_region, reduce_from_region), ("lockstep.tensor_parallel.f_and_g",))
WATCH = partial(watch, allowed=F_AND_G)


def marked(beside: Tensor) -> Callable[[], None]:
    """On a rank: leaves a mark in the trace, by a broadcast to itself, from where ``beside`` is."""
    alone = dist.new_group([dist.get_rank()], use_local_synchronization=True)
    mark = beside.new_zeros(MARK, dtype=torch.uint8)
    return lambda: dist.broadcast(mark, group_src=0, group=alone)


def _compared(seen: Seen, held: Sequence[Any], wanted: Sequence[Tensor]) -> Fault | None:
    return compare(seen, held, [forgiven(h, w, ROUNDING) for h, w in zip(held, wanted, strict=True)])


def alike(seen: Seen) -> list[Any]:
    """What two answers share that make one mistake: outputs and gradients, up to rounding, and what they called: by
    many ways there is no gradient."""
    own = [seen.returned[rank] for rank in seen.case.members]
    return [called(seen), [[rounded(value) for value in (mine["out"], *mine["gradients"])] for mine in own]]


def rounded(value: Any) -> Any:
    """Zero is never negative."""
    return value.double().round(decimals=DIGITS) + 0.0 if isinstance(value, Tensor) else value


# ---- what a step costs


def is_mark(event: Event) -> bool:
    return event.kind == "broadcast" and event.nbytes == MARK and len(event.group) == 1


def turns(seen: Seen) -> list[list[list[Event]]]:
    """What was done up to the first mark, up to the next one, ...: of each member of the group, its events."""
    by_rank = []
    for rank in seen.case.members:
        rows: list[list[Event]] = [[]]
        for event in seen.trace.of_rank(rank):
            if is_mark(event):
                rows.append([])
            else:
                rows[-1].append(event)
        by_rank.append(rows)
    return [list(turn) for turn in zip(*by_rank, strict=True)]


def number(seen: Seen, turn: int) -> int:
    """Collectives of the rank that calls most, barriers among them: all ranks wait there, too."""
    return max(sum(e.kind in COLLECTIVES for e in own) for own in turns(seen)[turn])


def travels(seen: Seen, turn: int) -> float:
    """Bytes of the all-reduces that as much travels in as in all of a rank's collectives and sends: other collectives
    are half of one."""
    sent = [[e for e in own if e.kind in (*COLLECTIVES, "send")] for own in turns(seen)[turn]]
    return max(sum(e.nbytes * (2 if e.kind == "all_reduce" else 1) for e in own) for own in sent) / 2


def passes(
    calls: int,
    nbytes: Callable[[Case], float],
    formula: str,
    *,
    backward: tuple[int, Callable[[Case], float], str] | None = None,
) -> tuple[Budget, ...]:
    """Forward so many collectives, that carry no more than an all-reduce of ``nbytes``; and as many backward,
    if nothing else is said."""
    return (
        *in_turn(FORWARD, "forward", "the forward pass", calls, nbytes, formula),
        *in_turn(BACKWARD, "backward", "the backward pass", *(backward or (calls, nbytes, formula))),
    )


def in_turn(
    turn: int, name: str, told: str, calls: int, nbytes: Callable[[Case], float], formula: str
) -> tuple[Budget, Budget]:
    """Budgets for what is sent between two marks; ``told`` is what is there, as in "the forward pass"."""
    often = Measure(
        partial(number, turn=turn), "collective", f"in {told} a rank calls {{}}", f"{{}} {name}", f"collectives {name}"
    )
    much = Measure(
        partial(travels, turn=turn), "byte", f"in {told} as much travels as in all-reduces of {{}}",
        f"{{}} {name}", f"bytes {name}",
    )  # fmt: skip
    return Budget(often, lambda case: calls), Budget(much, nbytes, formula)


def computed(seen: Seen) -> int:
    """FLOP of products on all ranks together, in both passes; 0 where nobody sees what is computed."""
    return sum(event.flops for rank in seen.case.members for event in seen.trace.of_rank(rank))


FLOPS = Measure(computed, "FLOP", "all ranks together compute {}", "{} on all ranks together", "flops")


def flops(need: Callable[[Case], float], formula: str) -> Budget:
    """What one rank alone would compute."""
    return Budget(FLOPS, need, formula, advice="Each rank computes with its own part only.")


def norms_of_others(seen: Seen) -> Sequence[Fault]:
    """The cost of a norm after the all-gather: it is of all ranks' positions."""
    for rank, own in zip(seen.case.members, turns(seen)[FORWARD], strict=True):
        kinds = [event.kind for event in own]
        after = own[kinds.index("all_gather") :] if "all_gather" in kinds and seen.case.size > 1 else []
        if any(part in event.name for event in after for part in NORMS if event.kind == "compute"):
            told = f"With {seen.case}: rank {rank} norms what it has gathered, the positions of all ranks."
            return [Fault("norms-all-positions", f"{told} Norm its own ones, and gather what comes out.", telling=True)]
    return []


def footprint(seen: Seen) -> Any:
    """What two right answers must share to cost alike: the collectives of each turn, and what is computed."""
    return called(seen), computed(seen)


def called(seen: Seen) -> list[list[list[tuple[str, int]]]]:
    """The collectives of each turn, by rank, in no order: their kinds and bytes."""
    return [[sorted((e.kind, e.nbytes) for e in own if e.kind in COLLECTIVES) for own in turn] for turn in turns(seen)]


def unmarked(seen: Seen) -> str:
    """The timeline of a step, without the mark."""
    trace = seen.trace
    left = Trace.of([e for e in trace if not is_mark(e)], trace.ranks, trace.world, trace.cluster, trace.unequal)
    return timeline(left).svg() if left.communication and left.time else ""
