"""Right answers that go wrong at one extreme: the reference of an exercise, wrapped so that it is right nearly always.

A mutation rounds what a function is given, or what it gives; changes one element on one rank; or does wrong only where
there is one rank, in a group, for a later step. Which of its values are numbers is found by looking: a value may be a
tensor, an array, a number, a list, a tuple or a dict of these, or a module, which has parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.checks.case import Case

Leaf = Callable[[Any], Any]
LATE = 3
MUTATED, FACT = "mutated: ", "fact: "  # what a mutant prints where it has changed something, and of what it is given


@dataclass(frozen=True)
class Here:
    """Who calls: member ``seat`` of ``size``; and with which arguments."""

    seat: int
    size: int
    given: tuple[Any, ...]


@dataclass(frozen=True)
class Mutation:
    """``before`` changes the arguments, ``after`` the result; ``when`` says in which calls, and ``tried`` in which
    cases, of an exercise with so large worlds: in all others it is right."""

    name: str
    before: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
    after: Leaf | None = None
    when: Callable[[Here], bool] = lambda here: True
    tried: Callable[[Case, int], bool] = lambda case, largest: True
    notes: bool = False  # whether it prints facts


def wrapped(reference: Callable[..., Any], mutation: Mutation) -> Callable[..., Any]:
    """The reference, wrong as the mutation says. What it changes in place, it changes."""

    def answer(*given: Any, **more: Any) -> Any:
        if not mutation.when(here(given, **more)):
            return reference(*given, **more)
        if mutation.notes:
            note(given, "")
        own = changed(given, mutation.before, mutation.name)
        was = [t.detach().clone() for t in tensors(own)]
        result = reference(*own, **more)
        for mine, theirs, before in zip(tensors(own), tensors(given), was, strict=False):
            if mine is not theirs and not same(mine, before):
                fill(theirs, mine)
        if mutation.notes:
            note((result,), "result")
        if result is None:
            return in_place(given, mutation)
        return changed(result, mutation.after, mutation.name)

    return answer


def here(given: tuple[Any, ...], group: Any = None) -> Here:
    if not dist.is_initialized():
        return Here(0, 1, given)
    return Here(dist.get_rank(group), dist.get_world_size(group), given)


def changed(value: Any, change: Leaf | None, name: str) -> Any:
    """What the change makes of it; it says so where that is something else."""
    if change is None:
        return value
    before = [t.detach().clone() for t in tensors(value)]
    made = change(value)
    after = tensors(made)
    if len(before) != len(after) or not all(map(same, before, after)) or (not before and plain(made) != plain(value)):
        print(f"{MUTATED}{name}")
    return made


def plain(value: Any) -> str:
    """What it is, as text, but for functions."""
    if type(value) in (list, tuple):
        return " ".join(map(plain, value))
    return "" if callable(value) else repr(value)


def same(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())


def fill(tensor: Tensor, values: Tensor) -> None:
    with torch.no_grad():
        tensor.copy_(values)


def in_place(given: tuple[Any, ...], mutation: Mutation) -> None:
    """What returns nothing has filled its first tensors, or its last array."""
    filled = [a for a in given if tensors((a,))]
    if not filled or mutation.after is None:
        return
    own = tensors((filled[-1] if isinstance(filled[-1], np.ndarray) else filled[0],))
    for tensor, made in zip(own, tensors(changed(list(own), mutation.after, mutation.name)), strict=True):
        fill(tensor, made)


def tensors(value: Any) -> list[Tensor]:
    """All that have numbers, wherever they lie; arrays as tensors of the same memory, and a module's parameters."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return [torch.from_numpy(np.asarray(value))]
    if isinstance(value, nn.Module):
        return [p for p in value.parameters() if not p.is_meta]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for one in value for t in tensors(one)] if isinstance(value, (list, tuple)) else []


# ---- facts of values


def note(values: Iterable[Any], where: str) -> None:
    """Of each argument, by its number, or of the result; each once in a process."""
    for number, value in enumerate(values):
        for fact in {f"{where or number} {fact}" for fact in facts(value)} - NOTED:
            NOTED.add(fact)
            print(f"{FACT}{fact}")


NOTED: set[str] = set()


def facts(value: Any) -> set[str]:
    if isinstance(value, nn.Module):
        return {"number"}
    if isinstance(value, (bool, str)) or value is None:
        return set()
    if isinstance(value, (int, float, np.generic)):
        return {"number", "int" if isinstance(value, int) else "float"}
    found = {"list"} if type(value) in (list, tuple) else set()
    found |= {"function"} if callable(value) else set()
    for tensor in tensors(value):
        found |= {"number", "tensor", str(tensor.dtype).removeprefix("torch.")}
        found |= {"()"} if tensor.dim() == 0 else set()
        found |= {"NaN"} if tensor.is_floating_point() and bool(tensor.isnan().any()) else set()
    inner = value if type(value) in (list, tuple) else list(value.values()) if isinstance(value, dict) else []
    return found.union(*(facts(one) & {"number"} for one in inner))


# ---- every number of a value


def each(value: Any, leaf: Leaf) -> Any:
    """The same value with ``leaf`` of each tensor, array and number in it."""
    if isinstance(value, nn.Module):
        for parameter in value.parameters():
            fill(parameter, leaf(parameter.detach().clone()))
        return value
    if isinstance(value, dict):
        return {key: each(one, leaf) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(each(one, leaf) for one in value))
    if type(value) in (list, tuple):
        return type(value)(each(one, leaf) for one in value)
    if isinstance(value, (Tensor, np.ndarray, np.generic, float, int)) and not isinstance(value, bool):
        return leaf(value)
    return value


def is_float(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return isinstance(value, float) or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f")


def of_floats(change: Callable[[Tensor], Tensor], but: Sequence[Any] = ()) -> Leaf:
    """``change`` for whatever holds floats, ``but`` those of some types; and nothing for all else."""

    def leaf(value: Any) -> Any:
        if not is_float(value) or getattr(value, "dtype", None) in but:
            return value
        if isinstance(value, Tensor):
            return change(value)
        if isinstance(value, np.ndarray):
            return change(torch.from_numpy(value.copy())).numpy()
        return type(value)(change(torch.tensor(float(value), dtype=torch.float64)).item())

    return leaf


def argument(number: int, leaf: Leaf) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """``leaf`` of each number of one argument."""
    return lambda given: tuple(each(a, leaf) if n == number else a for n, a in enumerate(given))


def result(leaf: Leaf) -> Leaf:
    return partial(each, leaf=leaf)


FLOAT32 = of_floats(lambda t: t.float().to(t.dtype))
BFLOAT16 = of_floats(lambda t: t.bfloat16().to(t.dtype), but=(torch.float64, np.float64))
ABSOLUTE = of_floats(lambda t: t.abs())
NO_NAN = of_floats(lambda t: t.nan_to_num())


# ---- one element of a value


def one_element(place: float, bit: bool = False) -> Leaf:
    """A value of which one number differs: 0.0 the first of the first tensor, 1.0 the last of the last one. By 1, or by
    the last ``bit`` of a float."""

    def after(value: Any) -> Any:
        sizes: list[int] = []
        each(value, lambda leaf: sizes.append(size_of(leaf, bit)) or leaf)
        full = [n for n, size in enumerate(sizes) if size]
        if not full:
            return value
        chosen, count = full[round(place * (len(full) - 1))], iter(range(len(sizes)))
        return each(value, lambda leaf: moved(leaf, place, bit) if next(count) == chosen else leaf)

    return after


def size_of(leaf: Any, bit: bool) -> int:
    if bit and not is_float(leaf):
        return 0
    return int(leaf.numel() if isinstance(leaf, Tensor) else np.size(leaf))


def moved(leaf: Any, place: float, bit: bool) -> Any:
    if isinstance(leaf, np.ndarray):
        return moved(torch.from_numpy(leaf.copy()), place, bit).numpy()
    if not isinstance(leaf, Tensor):
        return type(leaf)(np.nextafter(leaf, math.inf)) if bit else leaf + type(leaf)(visible(leaf))
    step = torch.zeros(leaf.numel(), dtype=leaf.dtype, device=leaf.device)
    at = round(place * (leaf.numel() - 1))
    value = leaf.detach().flatten()[at]
    if leaf.dtype == torch.bool:
        step[at] = True
        return leaf ^ step.view(leaf.shape)
    step[at] = torch.nextafter(value, torch.full_like(value, torch.inf)) - value if bit else visible(value)
    return leaf + step.view(leaf.shape)


def visible(value: Any) -> int:
    """A whole number that shows: 1, or of a large number a part."""
    size = abs(float(value))
    return max(1, int(size / 64)) if math.isfinite(size) else 1


# ---- when, and in which cases


def seat(place: float) -> Callable[[Here], bool]:
    return lambda here: here.size > 1 and here.seat == round(place * (here.size - 1))


def late(number: int) -> Callable[[Here], bool]:
    return lambda here: type(here.given[number]) is int and here.given[number] >= LATE


def root_is_last(case: Case, largest: int) -> bool:
    return case.size > 1 and case.members[-1] in (case.settings.get("src"), case.settings.get("dst"))


# ---- arguments that are no numbers


def cut(number: int) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A list ends after three."""
    return lambda given: tuple(a[:LATE] if n == number else a for n, a in enumerate(given))


def wrong_later(number: int, name: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that is wrong for step 3 and later."""

    def called(fn: Callable[..., Any], *own: Any, **more: Any) -> Any:
        value = fn(*own, **more)
        late = any(type(a) is int and a >= LATE for a in own)
        return changed(value, result(of_floats(lambda t: t + 1)), name) if late else value

    return lambda given: tuple(partial(called, a) if n == number else a for n, a in enumerate(given))


def flattened(value: Any) -> Any:
    """Numbers of shape () as vectors of one."""
    return each(value, lambda v: v.reshape(1) if isinstance(v, Tensor) and v.dim() == 0 else v)


# ---- all of them

NOTHING = Mutation("nothing", before=result(lambda leaf: leaf), notes=True)  # which has to pass
OF_RANKS: Sequence[Mutation] = (
    Mutation("first element on rank 0", after=one_element(0.0), when=seat(0.0), tried=lambda case, _: case.size > 1),
    Mutation("last element on rank K - 1", after=one_element(1.0), when=seat(1.0), tried=lambda case, _: case.size > 1),
    Mutation("middle on a middle rank", after=one_element(0.5), when=seat(0.5), tried=lambda case, _: case.size > 2),
    Mutation("one rank", after=one_element(0.5), tried=lambda case, _: case.size == 1),
    Mutation("largest world", after=one_element(0.5), tried=lambda case, largest: case.size == largest),
    Mutation("group", after=one_element(0.5), tried=lambda case, _: case.group is not None),
)
OF_ROOTS = (Mutation("last rank as the root", after=one_element(0.5), tried=root_is_last),)
ALONE: Sequence[Mutation] = (
    Mutation("first element", after=one_element(0.0)),
    Mutation("middle element", after=one_element(0.5)),
    Mutation("last element", after=one_element(1.0)),
)
OF_RESULTS = {  # by what a result has
    "float64": Mutation("result through float32", after=result(FLOAT32)),
    "float32": Mutation("result through bfloat16", after=result(BFLOAT16)),
    "float": Mutation("result through bfloat16", after=result(BFLOAT16)),
    "NaN": Mutation("result without NaN", after=result(NO_NAN)),
    "()": Mutation("result of shape (1,)", after=flattened),
}
BIT = Mutation("one bit", after=one_element(1.0, bit=True))


def of_argument(number: int, name: str, facts: set[str]) -> list[Mutation]:
    """Those that mean something for an argument of which this is known."""
    found = {
        "float64": Mutation(f"{name} through float32", before=argument(number, FLOAT32)),
        "float32": Mutation(f"{name} through bfloat16", before=argument(number, BFLOAT16)),
        "NaN": Mutation(f"{name} without NaN", before=argument(number, NO_NAN)),
        "int": Mutation(f"{name} from 3 on", after=one_element(0.5), when=late(number)),
        "list": Mutation(f"{name} up to the third", before=cut(number)),
        "function": Mutation(f"{name} from 3 on", before=wrong_later(number, f"{name} from 3 on")),
    }
    signed = [Mutation(f"absolute {name}", before=argument(number, ABSOLUTE))]
    floats = facts & {"float64", "float32"} and "tensor" in facts
    return [m for fact, m in found.items() if fact in facts] + (signed if floats else [])
