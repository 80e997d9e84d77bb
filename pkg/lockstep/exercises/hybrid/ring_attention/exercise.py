"""Causal attention over ranks in zig-zag order: judged by values, messages, FLOP, memory, and by what is computed
beside each message."""

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.measured_overlap import beside
from lockstep.checks.observation import Seen
from lockstep.events import POINT_TO_POINT
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, groups
from lockstep.exercises.fsdp.bytes_held_and_sent import HELD, held
from lockstep.exercises.mixture_of_experts.observed_calls import rounded
from lockstep.exercises.tensor_parallel.sizes import of
from lockstep.exercises.without_waiting.evidence import case

BYTES, ROOM = 8, 12  # of a number; as many times k may be held
LARGE, SILENT = "scores in the thousands", "zeros on rank 1"
TRIED = {1: [(2, 3, 4, "")], 2: [(2, 3, 5, ""), (1, 1, 1, "")], 3: [(2, 2, 4, LARGE), (1, 3, 2, SILENT)],
         4: [(3, 2, 7, "")], 5: [(1, 1, 8, "")], 8: [(2, 2, 32, "")]}  # fmt: skip
IN_A_GROUP = (2, 2, 3, "")


def cases(ranks: int, seed: int) -> list[Case]:
    """H, c, d; in the world and in a group of it."""
    rows = [(None, row) for row in TRIED[ranks]] + [(group, IN_A_GROUP) for group in groups(ranks)[1:] if ranks < 8]
    return [
        case(ranks, seed + n, group, f"H = {H}, c = {c}, d = {d}", told, H=H, c=c, d=d, values=told)
        for n, (group, (H, c, d, told)) in enumerate(rows)
    ]


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    H, c, d = of(case, "H c d")
    drawn = torch.randn(3, H, 2 * c, d, generator=generator(case, rank), dtype=torch.float64)
    drawn[:2] *= 40 if case.settings["values"] == LARGE else 1
    q, k, v = drawn * (case.settings["values"] != SILENT or rank != 1)
    return q, k, v


def wanted(case: Case) -> list[Tensor]:
    """In one place: all chunks in their order."""
    c, K = int(case.settings["c"]), case.size
    halves = [[torch.split(x, c, dim=1) for x in inputs(case, rank)] for rank in case.members]
    order = [(r, 0) for r in range(K)] + [(r, 1) for r in reversed(range(K))]
    q, k, v = (torch.cat([halves[r][n][half] for r, half in order], dim=1) for n in range(3))
    chunks = torch.split(torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), c, dim=1)
    return [torch.cat([chunks[r], chunks[2 * K - 1 - r]], dim=1) for r in range(K)]


def pair(case: Case) -> int:
    """FLOP of the queries of one chunk with the keys and values of one."""
    H, c, d = of(case, "H c d")
    return 4 * H * c * c * d


def keys(case: Case) -> int:
    """Bytes of k."""
    H, c, d = of(case, "H c d")
    return BYTES * H * 2 * c * d


def bare(seen: Seen) -> list[Fault]:
    """The first message beside which its rank computes less than one pair of chunks."""
    for rank in seen.case.members:
        events = seen.trace.of_rank(rank)
        computing = [e for e in events if e.kind == "compute" and e.flops]
        for m in (e for e in events if e.kind in POINT_TO_POINT):
            if (found := beside(m, computing)) < pair(seen.case):
                way = f"a message {'to' if m.kind == 'send' else 'from'} rank {m.peer}"
                late = bool(computing) and m.posted > max(c.posted for c in computing)
                told = "after its last product: start it before you compute with what is there." if late else (
                    f"and computes {found:,.0f} FLOP before it waits; a pair of chunks is {pair(seen.case):,} "
                    "FLOP. Start it, compute with the keys that are there, then wait()."
                )  # fmt: skip
                id = "starts-too-late" if late else "little-overlap" if found else "waits-at-once"
                return [Fault(id, f"With {seen.case}, rank {rank} starts {way} {told}")]
    return []


def alike(seen: Seen) -> list[object]:
    """What two answers share that make one mistake: their values, up to rounding."""
    return [rounded(seen.returned[rank]) for rank in seen.case.members]


def footprint(seen: Seen) -> object:
    """What two answers share that cost as much: messages, FLOP, what is bare, and whether they hold too much."""
    rows = [[(e.kind, e.peer, e.nbytes, e.flops) for e in seen.trace.of_rank(rank) if e.kind != "compute" or e.flops]
            for rank in seen.case.members]  # fmt: skip
    flops = [sum(row[3] for row in of_rank) for of_rank in rows]
    moved = [[row[:3] for row in of_rank if row[0] != "compute"] for of_rank in rows]
    return moved, flops, [fault.misconception for fault in bare(seen)], max(held(seen)) > ROOM * keys(seen.case)


EXERCISE = Exercise(
    number=3, title="Attention goes round", points=6, minutes=35, parameters="q, k, v, group=None",
    reference="lockstep.context_parallel:zigzag_ring_attention", cases=cases, inputs=inputs,
    worlds=tuple(TRIED), values=Values(wanted=wanted, tolerance=1e-9),
    costs=Costs(algorithm="ring attention", economise=bare, forbidden=BUILT_BY_HAND, measure_memory=True, budgets=(
        Budget("bytes", lambda case: (case.size - 1) * 2 * keys(case), "4(K-1)·H·c·d numbers", at_least=1.0),
        Budget("messages", lambda case: 2 * (case.size - 1), "2(K-1)"),
        Budget("rounds", lambda case: 2 * (case.size - 1), "2(K-1)"),
        Budget("flops", lambda case: (2 * case.size + 2) * pair(case), "2K + 2 pairs of chunks",
               advice="Leave out pairs whose keys all come later than their queries."),
        Budget(HELD, lambda case: ROOM * keys(case) if case.ranks == 8 else 1e9, f"{ROOM} times k", advice=
               "Let go of a rank's keys and values when you have passed them on and computed with them."),
    )),
    comparison=Comparison(alike=alike, footprint=footprint), run=Run(timeout=2.5),
)  # fmt: skip
