"""NUMA: access to local memory and to that of another socket, recorded on a machine with two, and measured if this one
has two.

The recorded numbers are published; ``data/numa_recorded.csv`` has the source.
"""

from __future__ import annotations

import os

from lockstep.experiments.cpu import topology
from lockstep.experiments.cpu.latency import circle, follow
from lockstep.tables import Table, published
from lockstep.this_machine.measure import best_time

NAMES = {
    "latency": ("one read of memory", "ns"),
    "bandwidth": ("reads by all its cores", "GB/s"),
    "changed line": ("a line that a core there has changed", "ns"),
}
FAR = 64 * 2**20  # bytes of the chain of indices


def recorded() -> dict[str, tuple[float, float]]:
    """``"latency"``, ``"bandwidth"`` and ``"changed line"`` → (own socket, the other one), in ns, GB/s and ns."""
    return {
        row["what"]: (float(row["own"]), float(row["other"]))
        for row in published("experiments/cpu", "numa_recorded.csv")
    }


def numa_table() -> Table:
    """The recorded machine, a row for each quantity; and a row for this one if it has two nodes that we may use."""
    rows = [_row(*NAMES[what], *values) for what, values in recorded().items()]
    here = here_seconds()
    if here:
        rows.append(_row("this machine: one read of memory", "ns", *(1e9 * s for s in here)))
    about = "" if here else " This machine has one node, or does not tell: nothing to measure here."
    caption = f"Recorded on two Xeon Platinum 8360Y (github.com/gjbex/Code-optimization).{about}"
    return Table(caption, ("", "own socket", "other socket", "ratio"), rows)


def here_seconds() -> list[float]:
    """Seconds of one read of node 0's memory, from a processor of node 0 and from one of node 1; empty without two
    nodes whose processors we may use (Linux)."""
    nodes = topology.nodes()
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()
    if len(nodes) < 2 or not {nodes[0][0], nodes[1][0]} <= allowed:
        return []
    follow(circle(1024), 1)  # compiled now
    with topology.on_processor(nodes[0][0]):
        chain = circle(FAR)  # first touch: a page is placed on the node that writes it first
    seconds = []
    for node in nodes[:2]:
        with topology.on_processor(node[0]):
            follow(chain, chain.size // 8)  # once round, so that both start with the same caches
            seconds.append(best_time(lambda: follow(chain, 20_000), 0.1) / 20_000)
    return seconds


def _row(name: str, unit: str, own: float, other: float) -> tuple[str, ...]:
    ratio = max(own, other) / min(own, other)
    return name, f"{own:.0f} {unit}", f"{other:.0f} {unit}", f"{ratio:.1f}"
