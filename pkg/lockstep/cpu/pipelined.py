"""Additions in a core, cycle by cycle: a model of instruction-level parallelism, and nothing else.

An addition takes ``latency`` cycles, and in each cycle the core begins at most ``ports`` of them, the earliest first.
One may begin when the one before it in its accumulator is done.

    latency 3, one port     cycle   0 1 2 3 4 5 6 7 8
    one accumulator                 + + + + + + + + +      an addition every 3 cycles
    three accumulators              + + +                  an addition every cycle
                                      + + +
                                        + + +
"""

from __future__ import annotations


def begins(additions: int, accumulators: int, latency: int, ports: int) -> list[int]:
    """The cycle in which each addition begins; number i goes into accumulator i mod ``accumulators``."""
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
    """Until the last of them is done."""
    return max(begins(additions, accumulators, latency, ports), default=-latency) + latency
