"""What a message costs the host on the virtual cluster, and whether it costs the same for 4 ranks and for 1,024.

Three programs of messages so small that their data costs nothing:

    ring of messages    isend to the right, irecv from the left, wait for both
    ring all-reduce     the course's own, 2(K-1) rounds with a sum in every other one
    tree                the course's own broadcast along a binomial tree, again and again

Ranks meet at a barrier first. From there to the end, the simulation's own process is timed: by its CPU time, which a
busy machine disturbs less, and by wall time. The whole run() adds its start, and the transfer of the trace back to the
caller. Other programs can double even the CPU time, by evicting the caches: so the least time of all runs is shown.

A second table shows whether the *virtual* times are right: how far their ratios are off those of processes (predict).

The first program also runs on a peer, SimGrid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

import torch
import torch.distributed as dist

from lockstep.bench import simgrid
from lockstep.bench.predict import errors
from lockstep.bench.table import Row, Table
from lockstep.bench.timing import Measured, Size, interleaved
from lockstep.collectives import ring_all_reduce, tree_broadcast
from lockstep.worlds import Result, run

RANKS: Mapping[Size, tuple[int, ...]] = {"quick": (4,), "normal": (4, 16, 64, 256), "full": (4, 16, 64, 256, 1024)}
REPEATS: Mapping[Size, int] = {"quick": 1, "normal": 3, "full": 5}
MESSAGES: Mapping[Size, int] = {"quick": 100, "normal": 4000, "full": 8000}  # about so many in a run
MANY = 20_000  # messages of a run; those that have more are not repeated
MOST: Mapping[Size, int] = {"quick": 1000, "normal": MANY, "full": 200_000}  # programs that need more are left out
LIMIT = 600.0  # seconds of a run


def ring_of_messages(rounds: int) -> None:
    r, K = dist.get_rank(), dist.get_world_size()
    outgoing, incoming = torch.zeros(1), torch.zeros(1)
    for _ in range(rounds):
        for work in [dist.isend(outgoing, (r + 1) % K), dist.irecv(incoming, (r - 1) % K)]:
            if work is not None:  # torch's type says so: a rank outside of the group has none
                work.wait()


def rings(times: int) -> None:
    x = torch.zeros(dist.get_world_size())
    for _ in range(times):
        ring_all_reduce(x)


def trees(times: int) -> None:
    x = torch.zeros(1)
    for _ in range(times):
        tree_broadcast(x, src=0)


Program = Callable[[int], None]
PROGRAMS: Mapping[str, tuple[Program, Callable[[int], int]]] = {
    "ring of messages": (ring_of_messages, lambda K: K),  # messages of one turn
    "ring all-reduce": (rings, lambda K: 2 * K * (K - 1)),
    "tree": (trees, lambda K: K - 1),
}


def timed(program: Program, turns: int) -> tuple[float, ...]:
    """On a rank: the host's clocks (CPU seconds of this process, wall seconds), before and after."""
    dist.barrier()
    before = host_clocks()
    program(turns)
    return *before, *host_clocks()


def host_clocks() -> tuple[float, float]:
    """Not ``time.perf_counter``, which on a rank is virtual time."""
    return time.process_time(), time.clock_gettime(time.CLOCK_MONOTONIC)


def tables(size: Size) -> list[Table]:
    chosen = [(name, K) for name, (_, messages) in PROGRAMS.items() for K in RANKS[size] if messages(K) <= MOST[size]]
    short = [partial(case, *c, MESSAGES[size]) for c in chosen if PROGRAMS[c[0]][1](c[1]) <= MANY]
    long = [partial(case, *c, MESSAGES[size]) for c in chosen if PROGRAMS[c[0]][1](c[1]) > MANY]
    run(timed, ring_of_messages, 1, ranks=2, on="dgx-a100")  # the first run of a session starts the server
    beside = [K for name, K in chosen if name == "ring of messages"]
    peers = [partial(simgrid.case, K, MESSAGES[size]) for K in beside]
    found = interleaved([*short, *peers], REPEATS[size], min) | interleaved(long, 1)
    notes = [
        f"The least of {REPEATS[size]} runs each, in turn; one run where there are more than {MANY:,} messages.",
        "Flatness: CPU time a message by that of the same program with the fewest ranks. 1 is flat.",
    ]
    costs = Table("virtual: host time of a message", [row(name, K, found) for name, K in chosen], notes)
    return [costs, simgrid.table(beside, found), errors(size)]


def case(name: str, K: int, wanted: int) -> Measured:
    """One run of at least ``wanted`` messages, and what each cost: seconds."""
    program, messages = PROGRAMS[name]
    turns = -(-wanted // messages(K))
    begin = time.monotonic()
    result = run(timed, program, turns, ranks=K, on="dgx-a100", timeout=LIMIT)
    whole = time.monotonic() - begin
    return {f"{name} {K} {what}": value for what, value in costs(result, whole).items()}


def costs(result: Result, whole: float) -> Measured:
    sent = result.trace.sent().number
    cpu, wall, cpu_end, wall_end = zip(*result.values, strict=True)
    spent = {"cpu": max(cpu_end) - min(cpu), "wall": max(wall_end) - min(wall), "whole": whole}
    return {"messages": sent, "seconds": whole} | {what: seconds / sent for what, seconds in spent.items()}


def row(name: str, K: int, found: Measured) -> Row:
    cpu, wall, whole = (found[f"{name} {K} {what}"] for what in ("cpu", "wall", "whole"))
    fewest = min(int(key.split()[-2]) for key in found if key.startswith(name) and key.endswith("cpu"))
    return {
        "program": name,
        "ranks": K,
        "messages": int(found[f"{name} {K} messages"]),
        "CPU [µs a message]": cpu * 1e6,
        "wall [µs]": wall * 1e6,
        "flatness ratio": cpu / found[f"{name} {fewest} cpu"],
        "whole run() [µs]": whole * 1e6,
        "run() [s]": found[f"{name} {K} seconds"],
    }
