"""Sick loops beside their cures, measured now; and the bottlenecks of the notes' two lists, each with its loop."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.bottlenecks.loops import LOOPS, REAL, VIRTUAL, find
from lockstep.tables import Table
from lockstep.tally import counted

GROUPS = {
    "counters": ("many small files", "scattered reads", "a scalar read each step", "a print each step",
                 "light work made parallel"),
    "failures": ("a loader without a state", "a blocking checkpoint", "silent corruption"),
    "host and GPU": ("pageable copies", "copies in line", "preprocessing on the host", "a stall each step"),
    "ranks": ("tiny all-reduces", "a straggler", "a slow link"),
    "memory": ("unfused element-wise work",),
}  # fmt: skip


def loops_table(group: str = "") -> Table:
    """The loops of one of GROUPS: the counter with the illness and without, and how many times as long the sick one
    took in the same run. Without a group, all of them: that takes several seconds."""
    rows = []
    chosen = [find(name) for name in GROUPS[group]] if group else LOOPS
    for loop in counted(chosen, "Measuring", each=0.5):
        pair = loop.measure()
        rows.append([loop.name, loop.counter, f"{pair.sick:.3g}", f"{pair.cured:.3g}", figures(pair.ratio), loop.time])
    head = ["loop", "counter", "sick", "cured", "times as long", "time"]
    return Table("Sick and cured in one run", head, rows)


def figures(number: float) -> str:
    """Two figures, and from 100 on a whole number."""
    return f"{number:,.0f}" if number >= 99.5 else f"{number:.2g}"


LISTS = (  # the notes' words, and the loops of ours that have this illness
    ("GPU and CPU Bottlenecks: underutilized due to slow data input/output", ("a starved step",)),
    ("Memory Bottlenecks: memory bandwidth becomes a limiting factor", ("unfused element-wise work",)),
    ("I/O Bottlenecks: GPUs waiting for data", ("pageable copies", "copies in line")),
    ("Storage Limitations: datasets exceed DRAM capacity", ("scattered reads",)),
    ("Software Frameworks: optimizing for specific hardware", ("a scalar read each step", "a stall each step")),
    ("Deployment Challenges: from development to production", ("a loader without a state", "failures")),
    ("CPU Preprocessing: offloading to GPUs", ("preprocessing in each epoch", "preprocessing on the host")),
    ("I/O: don't read many small files, pack samples", ("many small files",)),
    ("Communication: use NCCL, no parameter servers", ("tiny all-reduces", "a slow link")),
    ("Don't parallelize very light workloads", ("light work made parallel",)),
    ("Memory bandwidth: optimized low level libraries", ("unfused element-wise work",)),
)
BESIDE = ("unequal lengths", "a print each step", "a blocking checkpoint", "silent corruption", "a straggler")


def lists_table() -> Table:
    """The bottlenecks of the lecture notes, each with a loop of this unit, its counter and its cure; then those that
    neither list has."""
    rows = [
        [words, f"{loop.name} ({loop.time})", loop.counter, loop.cure]
        for words, names in (*LISTS, ("in neither list", BESIDE))
        for name in names
        for loop in [find(name)]
    ]
    return Table("Bottlenecks of two lists", ["a list says", "loop (time)", "counter", "cure"], rows)


def times_of(time: str) -> Sequence[str]:
    """The names of the loops in REAL or VIRTUAL time."""
    assert time in (REAL, VIRTUAL)
    return [loop.name for loop in LOOPS if loop.time == time]
