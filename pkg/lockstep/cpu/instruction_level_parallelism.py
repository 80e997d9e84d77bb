"""Instruction-level parallelism: additions in a pipelined core, and the dependency chains of a loop that limit them.

**A pipelined core** (``begins``). An addition takes ``latency`` cycles, and in each cycle the core begins at most
``ports`` of them, the earliest first. One may begin when the previous one in its accumulator is done.

    latency 3, one port     cycle   0 1 2 3 4 5 6 7 8
    one accumulator                 + + + + + + + + +      an addition every 3 cycles
    three accumulators              + + +                  an addition every cycle
                                      + + +
                                        + + +

So one accumulator leaves most cycles empty, and independent accumulators fill them.

**Loop-carried dependencies** (``carried_chains``), read from the machine code of one turn of a loop.

    chain     a value that depends, through arithmetic, on its own value one turn ago: an accumulator
    steps     the arithmetic instructions on that path: a turn takes at least steps x latency

The instructions are followed in order. For each register, ``ways`` has the registers whose values at the beginning of
the turn its value depends on, and the most arithmetic instructions on the path from each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


def begins(additions: int, accumulators: int, latency: int, ports: int) -> list[int]:
    """The cycle in which each addition begins; addition i goes into accumulator i mod ``accumulators``."""
    free = [0] * accumulators  # when each accumulator's last addition is done
    begun: dict[int, int] = {}  # cycle → how many begin in it
    found = []
    for i in range(additions):
        cycle = free[i % accumulators]
        while begun.get(cycle, 0) == ports:
            cycle += 1
        begun[cycle] = begun.get(cycle, 0) + 1
        free[i % accumulators] = cycle + latency
        found.append(cycle)
    return found


def cycles(additions: int, accumulators: int, latency: int, ports: int) -> int:
    """The cycles until the last addition is done."""
    return max(begins(additions, accumulators, latency, ports), default=-latency) + latency


# ---- loop-carried dependencies


class Instruction(Protocol):
    """What is read of a machine instruction (``assembly.Instruction``)."""

    @property
    def is_arithmetic(self) -> bool: ...
    @property
    def lanes(self) -> int: ...
    @property
    def sources(self) -> frozenset[str]: ...
    @property
    def destinations(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Chain:
    """An accumulator: ``steps`` dependent arithmetic instructions per turn, each on ``lanes`` numbers."""

    steps: int
    lanes: int


Ways = dict[str, Chain]  # the register at the beginning of the turn → the arithmetic since then
_UNTOUCHED = Chain(0, 64)


def carried_chains(instructions: Sequence[Instruction]) -> list[Chain]:
    """The independent chains, the longest first; none if no turn depends on the previous one."""
    ends = _follow(instructions)
    carried = {to: {o: way for o, way in ways.items() if o in ends} for to, ways in ends.items()}
    chains = []
    for members in _circles(carried):
        ways = [carried[to][origin] for to in members for origin in members if origin in carried[to]]
        longest = max(ways, key=lambda way: way.steps)
        if longest.steps:
            chains.append(longest)
    return sorted(chains, key=lambda chain: -chain.steps)


def _follow(instructions: Sequence[Instruction]) -> dict[str, Ways]:
    """The origins of the values at the end of a turn, for each register and fixed memory operand that was written."""
    written = {place for i in instructions for place in i.destinations}
    values: dict[str, Ways] = {}
    for instruction in instructions:
        ways: Ways = {}
        for source in instruction.sources:
            for origin, before in values.get(source, {source: _UNTOUCHED}).items():
                way = _longer(before, instruction)
                if origin not in ways or way.steps > ways[origin].steps:
                    ways[origin] = way
        for place in instruction.destinations:
            if not _moves_along(place, written):
                values[place] = ways
    return {to: ways for to, ways in values.items() if to.startswith("v") or _is_memory(to)}


def _longer(before: Chain, instruction: Instruction) -> Chain:
    if not instruction.is_arithmetic:
        return before
    return Chain(before.steps + 1, min(before.lanes, instruction.lanes))


def _is_memory(place: str) -> bool:
    return "(" in place or "[" in place


def _moves_along(place: str, written: set[str]) -> bool:
    """Whether the address of a memory operand changes from turn to turn: another element each time."""
    return _is_memory(place) and any(r in place for r in written if r and not _is_memory(r) and not r.startswith("v"))


def _circles(carried: dict[str, Ways]) -> list[set[str]]:
    """Sets of registers that reach each other from turn to turn: an accumulator that moves between them is one
    chain."""
    reach = {to: _reachable(to, carried) for to in carried}
    circles: list[set[str]] = []
    for to in carried:
        if to in reach[to] and not any(to in circle for circle in circles):
            circles.append({o for o in reach[to] if to in reach.get(o, set())})
    return circles


def _reachable(start: str, carried: dict[str, Ways]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for origin in carried.get(waiting.pop(), {}):
            if origin not in found:
                found.add(origin)
                waiting.append(origin)
    return found
