"""A call of a kernel, observed: its result, and its accesses to memory, as plain data.

Each call runs twice. First in Python, on traced arrays, where an index outside of an array is an error and each access
is seen; then compiled. Of one call the machine code is read as well: that for one CPU, the same for everybody.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lockstep.cpu.assembly import calls, hottest, innermost_loops, is_readable, widths
from lockstep.cpu.compiled import common_cpu, compiling_problem, is_compiled, machine_code
from lockstep.cpu.memory_traffic import Cache, share
from lockstep.cpu.tracing import SERIAL, Memory
from lockstep.exercises.cpu.trial import try_in_python

SMALL = 128  # elements of the arrays of a call that is tried with ones, too
MOST_LINES = 40  # of machine code that are kept
MOST_WRITTEN = 200  # addresses that are kept
Evidence = dict[str, Any]


@dataclass(frozen=True)
class Kernel:
    """``result(returned, arguments)`` is what a call gave, as plain data; ``facts(memory)`` what its run in Python did
    to memory. The call with an array of ``read`` elements is looked at by ``measure``, which reads machine code; the
    errors of such a kernel in Python are left to its compiler."""

    names: tuple[str, ...]  # of the parameters
    result: Callable[[Any, tuple[Any, ...]], Evidence]
    facts: Callable[[Memory], Evidence] = lambda memory: {}
    memory: Callable[[tuple[Any, ...]], Memory | None] = lambda arguments: None
    read: int = 0
    measure: Callable[..., Evidence] = lambda fn, *arguments: {"code": code(fn, *arguments)}

    def observe(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
        found = {**options(fn), **self.in_python(fn, arguments), "uncompilable": None, "code": {}}
        if found["problem"]:
            return found
        if is_compiled(fn) and (problem := compiling_problem(fn, *arguments)):
            return {**found, "uncompilable": problem}
        found |= self.result(fn(*arguments), arguments)
        read = self.read and any(isinstance(a, np.ndarray) and a.size == self.read for a in arguments)
        return {**found, **self.measure(fn, *arguments)} if read and is_compiled(fn) else found

    def in_python(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Evidence:
        """The run in Python alone, which takes no compiling."""
        try:
            trial = try_in_python(fn, self.names, *arguments, memory=self.memory(arguments))
        except Exception:
            if not self.read:
                raise
            return {"problem": "", "python": None}  # the compiler says what
        found: Evidence = {"problem": trial.problem, "told": trial.told, "where": trial.where, "python": None}
        if trial.problem == "library-call" and self.read:
            return {**found, "problem": ""}  # the machine code says what is called
        if trial.problem:
            return found
        python = self.result(trial.returned, trial.arguments)
        empty = trial.memory.empty and _has_nan(trial.returned, *trial.arguments)
        found |= {"python": python, "empty": empty, "ones": self._of_ones(fn, arguments)}
        return {**found, **uses(trial.memory, self.names), **self.facts(trial.memory)}

    def _of_ones(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """The result in Python where each element is 1: it says how much comes into it. Of small arrays only."""
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        if sum(a.size for a in arrays) > SMALL:
            return None
        ones = tuple(np.ones_like(a) if isinstance(a, np.ndarray) else a for a in arguments)
        try:
            trial = try_in_python(fn, self.names, *ones, memory=self.memory(ones))
        except Exception:
            return None
        return None if trial.problem else self.result(trial.returned, trial.arguments)["result"]


def _has_nan(*values: Any) -> bool:
    """Whether any array or number has one."""
    arrays = [np.asarray(v) for v in values if isinstance(v, (float, np.floating, np.ndarray))]
    return any(bool(np.isnan(a).any()) for a in arrays if a.dtype.kind == "f")


def options(fn: Callable[..., Any]) -> Evidence:
    """Whether ``fn`` is compiled, and how."""
    from numba import config

    given = getattr(fn, "targetoptions", {})
    return {
        "compiled": is_compiled(fn),
        "parallel": bool(given.get("parallel")),
        "fastmath": bool(given.get("fastmath")),
        "disabled": bool(config.DISABLE_JIT),  # then @njit does nothing
    }


def code(fn: Callable[..., Any], *arguments: Any, strict: bool = False) -> Evidence:
    """The hottest loop of the machine code for such arguments, as numbers and text. ``strict``: as it would be if the
    compiler had to keep the order of operations; of several loops that add up then the one with the most accumulators,
    since the compiler may unroll the loop over what is left until it looks as hot as the one that does the work."""
    text = machine_code(fn, *arguments, cpu=common_cpu(), strict=strict)
    loops = innermost_loops(text)
    adding = [lp for lp in loops if lp.chains]
    most = max((lp.accumulators for lp in adding), default=0.0)
    loop = hottest([lp for lp in adding if not strict or lp.accumulators == most]) or hottest(loops)
    called = calls(text)
    found: Evidence = {
        "readable": is_readable(text),
        "widths": widths(text),
        "allocates": any("NRT_Allocate" in name or "NRT_MemInfo_alloc" in name for name in called),
        "blas": any("numba_xx" in name or "gemm" in name for name in called),
    }
    if loop is None:
        return found
    lines = str(loop).splitlines()
    shown = lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"    ... and {len(lines) - MOST_LINES} more"]
    return found | {
        "text": "\n".join(shown),
        "lanes": loop.chains[0].lanes if loop.chains else loop.lanes,
        "bits": loop.element_bits,
        "chains": len(loop.chains),
        "stores": loop.stores,
        "accumulators": loop.accumulators,
    }


def uses(memory: Memory, names: tuple[str, ...]) -> Evidence:
    """How often each element of the arguments was read and written; the largest array that was made, and whether one
    was made of products."""
    arrays = [name for name in names if name in memory.arrays]
    return {
        "read": {name: memory.uses(name).tolist() for name in arrays},
        "written": {name: memory.uses(name, write=True).tolist() for name in arrays},
        "temporary": memory.temporary,
        "products": memory.products,
    }


def misses(memory: Memory, cache: Cache) -> Evidence:
    """How often the cache missed A, B and anything else, how often in all, and a digest of the order of accesses."""
    missed = Counter(memory.name(a[0]) for a in memory.accesses if not cache.access(a[0]))
    others = missed.total() - missed["A"] - missed["B"]
    order = hashlib.sha1(repr(memory.accesses).encode()).hexdigest()
    by_array = {"A": missed["A"], "B": missed["B"], "C and others": others}
    return {"misses": by_array, "missed": missed.total(), "order": order}


def sharing(memory: Memory) -> Evidence:
    """Who read x, which lines moved between workers, and what several workers wrote."""
    shared = share(memory.accesses)
    readers = Counter(a[2] for a in memory.accesses if memory.name(a[0]) == "x")
    written = sorted({(a[0], a[2]) for a in memory.accesses if a[1] and a[2] != SERIAL})
    return {
        "turns": memory.turns,
        "workers": memory.workers,
        "shares": [readers[w] for w in range(memory.workers)],
        "outside": readers[SERIAL],
        "races": len(shared.races),
        "transfers": shared.total,
        "by": [list(pair) for pair in written[:MOST_WRITTEN]],
    }
