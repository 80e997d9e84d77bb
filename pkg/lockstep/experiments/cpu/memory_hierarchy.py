"""The memory hierarchy, from a register to another server: latency and bandwidth of each level.

What one core and two processes of this machine can measure is measured; the rest is published, and each row says which.

    latency      the time of one access       matters to programs whose next address depends on the data
    bandwidth    bytes per second in a stream matters to all others
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.experiments.cpu.accumulators import addition_seconds
from lockstep.experiments.cpu.latency import latency
from lockstep.experiments.cpu.numa import recorded
from lockstep.experiments.cpu.roofs import Roofs
from lockstep.machines import find
from lockstep.tables import Table
from lockstep.this_machine import host
from lockstep.this_machine.survey import survey

FAR = 64 * 2**20  # bytes
HERE, BOX = "measured here", "two Xeon 8360Y"
OPERANDS = 3 * 4  # bytes: the operands of a multiply-add of float32


@dataclass(frozen=True)
class Distance:
    """One level: ``seconds`` of one access to a number that is ``where``, and ``bandwidth`` in bytes/s of a stream."""

    where: str
    seconds: float
    bandwidth: float | None
    source: str


def distances(roofs: Roofs) -> list[Distance]:
    """All levels, sorted by the time of one access. ``roofs``: those of this core."""
    box = recorded()
    mine = survey()
    ethernet, nvidia = find("commodity-10g").between, find("dgx-a100").between
    found = [
        Distance("a register", addition_seconds(), roofs.peak / 2 * OPERANDS, HERE),
        *_levels(roofs),
        Distance("changed by a core nearby", 1e-9 * box["changed line"][0], None, BOX),
        Distance("the other socket's memory", 1e-9 * box["latency"][1], 1e9 * box["bandwidth"][1], BOX),
        Distance("another process, by gloo", mine.inside.alpha, mine.inside.bandwidth, HERE),
        Distance("a GPU of another node, by NCCL", nvidia.alpha, nvidia.bandwidth, "NCCL's tuning; DGX A100"),
        Distance("another server, by TCP", ethernet.alpha, ethernet.bandwidth, "Feng 2003; 10 Gbit/s"),
    ]
    return sorted(found, key=lambda distance: distance.seconds)


def distances_table(roofs: Roofs) -> Table:
    """``distances`` as a table; the third column is in dependent additions."""
    found = distances(roofs)
    rows = [(d.where, _time(d.seconds), f"{d.seconds / found[0].seconds:,.0f}", _rate(d), d.source) for d in found]
    return Table("From a register to another server", ("where", "one access", "in additions", "GB/s", "from"), rows)


def _levels(roofs: Roofs) -> list[Distance]:
    """The caches whose bandwidth is in ``roofs``, and an array that is larger than most last-level caches."""
    caches = host.caches()
    sizes = {name.rstrip("d"): size // 2 for name, size in caches.items() if name in ("L1d", "L2")} or {"L1": 16 * 1024}
    far = "memory" if caches.get("L3", 0) < FAR else "the L3 cache"
    near = [
        Distance(f"the {name} cache", latency(size), roofs.bandwidths.get(name), HERE) for name, size in sizes.items()
    ]
    return [*near, Distance(far, latency(FAR), roofs.bandwidths["memory"], HERE)]


def _time(seconds: float) -> str:
    return f"{1e9 * seconds:.3g} ns" if seconds < 1e-6 else f"{1e6 * seconds:.3g} µs"


def _rate(distance: Distance) -> str:
    return "–" if distance.bandwidth is None else f"{distance.bandwidth / 1e9:.3g}"
