"""Which values does one turn of a loop hand to the next, and how many steps does each of them wait for?

An addition takes two to four cycles, and a core can begin two of them in every cycle. So one accumulator leaves most
places empty: each addition waits for the one before. Accumulators that do not need each other fill the places.

    chain     a value that depends, through arithmetic, on what it was one turn ago: an accumulator
    steps     the arithmetic instructions on that way: the time of a turn is steps x latency, whatever else goes on

The instructions are followed in order. For each register, ``ways`` says from which registers' values at the turn's
beginning its value was computed, and over how many arithmetic instructions at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.cpu.machine_instructions import Instruction


@dataclass(frozen=True)
class Chain:
    """An accumulator: ``steps`` dependent arithmetic instructions a turn, each on ``lanes`` numbers."""

    steps: int
    lanes: int


Ways = dict[str, Chain]  # the register at the beginning of the turn → the arithmetic since then
_UNTOUCHED = Chain(0, 64)


def carried_chains(instructions: Sequence[Instruction]) -> list[Chain]:
    """The independent chains, the longest first; none if no turn waits for the one before."""
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
    """Where the values at the end of a turn come from, for every register and fixed place that was written."""
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
    """A place in memory whose address changes from turn to turn: another element each time."""
    return _is_memory(place) and any(r in place for r in written if r and not _is_memory(r) and not r.startswith("v"))


def _circles(carried: dict[str, Ways]) -> list[set[str]]:
    """Registers that reach each other, turn by turn: an accumulator that moves from one to the other is one chain."""
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
