"""A figure of each kind, and of each with extreme values: what tests of all figures draw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from drawn_traces import ring_trace, sawtooth
from numba import cuda
from test_audit_figure import ROWS, verdict
from test_survey_figure import BARE, SERVER

from lockstep import predict, reconcile, show
from lockstep.bottlenecks.lengths import as_they_come, bucketed
from lockstep.bottlenecks.streams import Step, train
from lockstep.chrome_traces.spans import Lane, Recording, Span
from lockstep.collectives import ring_all_reduce
from lockstep.cost.inference import LLAMA_3_8B, decode, prefill
from lockstep.cost.roofs import Roofs, Work
from lockstep.cost.tasks import TRAINING, Task
from lockstep.cpu.assembly import innermost_loops
from lockstep.dye import dye, total
from lockstep.errors import Deadlock, RankState
from lockstep.events import Event, Memory, Outcome, Trace, Unequal
from lockstep.experiments.all_reduce_sgd import under_way
from lockstep.experiments.horovod.recorded import recording
from lockstep.experiments.hybrid import placed
from lockstep.experiments.mixture_of_experts import travelling
from lockstep.experiments.without_waiting.fewer_bytes import Trained
from lockstep.experts.gpt import MixtureGPT
from lockstep.show.axes_on_links import AXES, COLOURS, Placement
from lockstep.show.reconciliation import Comparison
from lockstep.simt import launch
from lockstep.tensor_parallel.across_nodes import Size

ASSEMBLY = Path(__file__).parents[1] / "cpu/assembly/avx2-dot_four_accumulators.s"
STATES = [
    RankState(r, "waiting", f"send(dst={1 - r})", "Cell In[4], line 5", "dist.send(x, 1 - r)", (1 - r,)) for r in (0, 1)
]

PROFILE = Recording(
    "t.json",
    [Lane("thread 1 (python)", "1")],
    [Span(0, i, i + 1, "compute", f"aten::mm {i}") for i in range(3)],
    3.0,
    3,
)

LENGTHS = [1 + n * 37 % 90 for n in range(32)]
A100 = Roofs(312e12, 2.04e12, 25e9)


def halves(values: Any) -> None:
    i = cuda.grid(1)
    if i % 2 == 0:
        values[i] = 3


FIGURES: dict[str, Callable[[], Any]] = {
    "active_and_total": show.active_and_total,
    "additions": lambda: show.additions(8),
    "amdahl": lambda: show.amdahl(0.95, 16, {1: 1.0, 2: 0.6}),
    "assignment": lambda: show.assignment([9, 1, 1, 4], {"blocks": [[0, 1], [2, 3]], "by turns": [[0, 2], [1, 3]]}),
    "attention_ring": lambda: show.attention_ring(3, zigzag=True),
    "audit": lambda: show.audit(ROWS),
    "axes_on_links": lambda: show.axes_on_links(placed.on_links()),
    "balance": lambda: show.balance([1, 3, 3, 8], {"even cut": [2, 2], "best cut": [3, 1]}),
    "bars": lambda: show.bars({"Python": 32.0, "4 accumulators, in order": 0.3}, "ns", "Time for an element"),
    "batch_and_rate": lambda: show.batch_and_rate(
        [(16, "as for the small batch", 3.0), (1024, "as for the small batch", 9.0)], [(128, "linear", 23.5)]
    ),
    "blocks_on_sms": lambda: show.blocks_on_sms(10, 4),
    "board": lambda: show.board(4, 6, 3, "F0 F1\nF0\n..\n.."),
    "buckets": lambda: show.buckets(under_way.bucket_run(ranks=2)),
    "cache_walk": show.cache_walk,
    "compared": lambda: show.compared({"apart": outcome_of(4, 5.0), "together": outcome_of(4, 3.0)}),
    "costs": lambda: show.costs(ranks=16),
    "pipeline": lambda: show.pipeline(micro_batches=4),
    "curves": lambda: show.curves({"one step": {4: 2.0, 65536: 150.0}}, "KiB", "ns", "Access", {"L2": 2048}, "xy"),
    "deadlock": lambda: show.timeline(Deadlock("A circle.", STATES, ring_trace(2))),
    "expert_shares": show.expert_shares,
    "flop_shares": show.flop_shares,
    "heads": show.heads,
    "horovod": lambda: show.horovod(recording("timelines").value["late tensors"]),
    "inside_and_across": lambda: show.inside_and_across(Size(1, 8, 64, 8)),
    "kept_by_ranks": show.kept_by_ranks,
    "lines": lambda: show.lines([(8 * w, w) for w in range(4)], 499, 4),
    "loss_by_bytes": lambda: show.loss_by_bytes(
        [Trained("examples dealt evenly", f"{n}", n, 1e5 / n, 0.5, 7.9) for n in (1, 8)]
        + [Trained("few classes on each rank", f"{n}", n, 1e5 / n, 0.5 + n / 8, 9.0) for n in (1, 8)]
    ),
    "losses_of_twelve": show.losses_of_twelve,
    "matrix_cuts": show.matrix_cuts,
    "memory_over_time": lambda: show.memory_over_time(sawtooth()),
    "memory_stacks": show.memory_stacks,
    "message_times": lambda: show.message_times([8, 800, 80_000, 8_000_000], [2e-5, 2.1e-5, 5e-5, 3e-3], 2e-5, 4e-10),
    "old_weights": lambda: show.old_weights(2),
    "plan": lambda: show.plan("gpt3-6.7b", "dgx-a100 x 1"),
    "predict": lambda: predict("page", "How many ms does a ring of 64 ranks take, with 16 MB on each of them?", "ms"),
    "processors": show.processors,
    "product_by_tiles": show.product_by_tiles,
    "race": show.race,
    "reconcile": lambda: reconcile("page", 3.0, 4.0),
    "registers": lambda: show.registers(innermost_loops(ASSEMBLY.read_text())[0]),
    "ring": lambda: show.ring(8),
    "roofline": lambda: show.roofline(
        1e11, {"L1": 2e11, "memory": 2e10}, {"dot": (2e6, 8e6, 5e-4), "matmul": (2e9, 1e7)}
    ),
    "routed_text": lambda: show.routed_text(MixtureGPT(4)),
    "sgd_map": show.sgd_map,
    "survey": lambda: show.survey(SERVER),
    "survey of little": lambda: show.survey(BARE),
    "tasks": lambda: show.tasks(TRAINING, workers=2),
    "tensor_core": show.tensor_core,
    "padding": lambda: show.padding(LENGTHS, {"one way": as_they_come(LENGTHS, 8), "bucketed": bucketed(LENGTHS, 8)}),
    "streams": lambda: show.streams({"pinned": train(Step(), 3, True), "overlapped": train(Step(), 3, True, True)}),
    "three_roofs": lambda: show.three_roofs(
        {f"{b}": [prefill(LLAMA_3_8B, 512), decode(LLAMA_3_8B, 512, b)] for b in (1, 64)}, A100, "sequences", "64"
    ),
    "timeline": lambda: show.timeline(ring_trace(4)),
    "tokens_to_experts": lambda: show.tokens_to_experts(travelling.routed(ranks=3, tokens=7, k=2)),
    "trace_file": lambda: show.trace_file(PROFILE),
    "warp": lambda: show.warp(launch(halves, 1, 32, np.zeros(32, np.float32), record=(0, 0))),
    "xray": lambda: show.xray(dyed := dye(ring_all_reduce, ranks=4, steps=True), total(dyed)),
}


LONG = "a name that somebody has given to a thing of theirs, and then some"
LEAST, MOST = 1e-9, 1e12


class Drawn:
    """A drawing that is no figure of its own."""

    def __init__(self, drawing: str) -> None:
        self.drawing = drawing

    def svg(self) -> str:
        return self.drawing


def trace_of(ranks: int, seconds: float, kinds: tuple[str, ...] = ("all_reduce",), name: str = "mm") -> Trace:
    """Each rank computes, and then calls a collective of each kind."""
    events = [Event(rank, "compute", 0.0, seconds / 2, name=name, where=LONG) for rank in range(ranks)]
    for n, kind in enumerate(kinds):
        start = seconds * (0.5 + 0.5 * n / len(kinds))
        end = start + 0.5 * seconds / len(kinds)
        events += [Event(rank, kind, start, end, 10**12, group=tuple(range(ranks)), message=n) for rank in range(ranks)]
    return Trace.of(events, ranks, "virtual", LONG)


def outcome_of(ranks: int, seconds: float) -> Outcome:
    return Outcome([], trace_of(ranks, seconds), seconds, [])


def unequal_trace() -> Trace:
    one = trace_of(8, MOST, ("all_reduce", "reduce_scatter", "all_gather"), LONG)
    differing = [Unequal((rank,), what, MOST) for rank in range(8) for what in ("speed", "memory")]
    return Trace.of(one.events, 8, "virtual", LONG, [*differing, Unequal((0, 1), "bandwidth", LEAST)])


def held(nbytes: int, seconds: float) -> Outcome:
    """A rank that holds so many bytes of each kind, and calls every collective."""
    kinds = ("all_gather", "reduce_scatter", "all_reduce", "broadcast", "all_to_all")
    trace = trace_of(1, seconds, kinds)
    samples = tuple((seconds * i / 4, tuple((i + 1) * nbytes // 5 for _ in range(5))) for i in range(5))
    return Outcome([None], trace, seconds, [5 * nbytes], memory=[Memory(peak=5 * nbytes, samples=samples)])


EXTREMES: dict[str, Callable[[], Any]] = {
    "additions": lambda: show.additions(16, latency=40, ports=1, number=999),
    "additions, one": lambda: show.additions(1, latency=1, ports=16, number=1),
    "amdahl": lambda: show.amdahl(0.999999999, 4096, {1: MOST, 512: 1.0, 4096: LEAST}, LONG[:27]),
    "amdahl, one": lambda: show.amdahl(0.0, 1),
    "assignment": lambda: show.assignment([MOST] * 4, {LONG: [[0, 1], [2, 3]], "one": [[0, 1, 2, 3]]}),
    "assignment, 512": lambda: show.assignment([LEAST] * 1024, {"by turns": [[i, i + 512] for i in range(512)]}),
    "audit": lambda: show.audit([verdict(LONG, "openmp", "OpenMP", openmp=1.0, blas=1e-9, n_jobs=1.0)]),
    "balance": lambda: show.balance([MOST, LEAST, 3, 8] * 8, {LONG: [2] * 16, "best cut": [31, 1]}),
    "bars": lambda: show.bars({LONG: MOST, "b": 1.0, "c": LEAST}, "a long unit", LONG),
    "bars, one": lambda: show.bars({"b": LEAST}, "s", "One"),
    "bars, alike": lambda: show.bars({LONG: 12345.678, "b": 9999.999}, "examples a second", LONG),
    "batch_and_rate": lambda: show.batch_and_rate(
        [(1, LONG, LEAST), (2**40, LONG, 100.0)], [(1, LONG + ".", 23.456789)], (LONG, LONG)
    ),
    "buckets": lambda: show.buckets(outcome_of(4, MOST)),
    "buckets, many": lambda: show.buckets(Outcome([], trace_of(1, LEAST, ("all_reduce",) * 40), LEAST, [])),
    "tokens_to_experts": lambda: show.tokens_to_experts(travelling.routed(ranks=8, tokens=8, k=8)),
    "trace_file": lambda: show.trace_file(
        Recording(LONG, [Lane(LONG, str(i)) for i in range(30)], [Span(0, 0.0, MOST, "compute", LONG)], MOST, 1)
    ),
    "plan": lambda: show.plan(
        "layers=96,hidden=12288,heads=96", "gb300-nvl72 x 1024 gpus", batch=1024, seq=1_000_000
    ),
    "plan, one": lambda: show.plan("llama3-8b", "dgx-h100 x 1 gpus", batch=1, seq=64),
    "plan, which fits nowhere": lambda: show.plan("llama3-405b", "dgx-a100 x 1"),
    "attention_ring, two": lambda: show.attention_ring(2),
    "axes_on_links, large": lambda: show.axes_on_links(
        [
            Placement(LONG, axis, dict.fromkeys(AXES, MOST), dict.fromkeys(COLOURS, LEAST) | {axis: MOST})
            for axis in AXES
        ]
    ),
    "padding, one": lambda: show.padding([1], {LONG: [[0]]}),
    "padding, many": lambda: show.padding([10**9] + [1] * 95, {LONG: [list(range(96))]}),
    "streams, one": lambda: show.streams(train(Step(), 1)),
    "streams, many": lambda: show.streams({LONG: train(Step(LEAST, 1, 1.0), 100, item_every=1)}),
    "three_roofs, one": lambda: show.three_roofs([Work(LONG, MOST, LEAST, MOST)], Roofs(LEAST, MOST, 1.0)),
    "tokens_to_experts, one": lambda: show.tokens_to_experts(travelling.routed(ranks=1, tokens=1)),
    "batch_and_rate, many": lambda: show.batch_and_rate(
        [(2**n, "linear", float(n)) for n in range(24)], [(2**n * 1000, "linear", float(n)) for n in range(14)]
    ),
    "blocks_on_sms": lambda: show.blocks_on_sms(64, 8),
    "blocks_on_sms, one": lambda: show.blocks_on_sms(1, 1),
    "board": lambda: show.board(4, 6, 4),
    "board, one": lambda: show.board(1, 1, 1),
    "compared": lambda: show.compared({LONG: outcome_of(512, MOST), "b": Outcome([], ring_trace(8), LEAST, [])}),
    "costs": lambda: show.costs(LEAST, LEAST, 4096, 1.0, 1e15),
    "costs, two": lambda: show.costs(1e3, 1e3, 2, 1e9, 1e12),
    "curves": lambda: show.curves(
        {LONG: {LEAST: LEAST, MOST: MOST}, "b": {1: 1}}, LONG, LONG, LONG, {LONG: 1e6, "L2": 1e7}, "xy"
    ),
    "curves, one": lambda: show.curves({"a": {1e12: 1e12, 1e-9: 1e-9}}, "x", "y", "One"),
    "curves, five alike": lambda: show.curves(
        {f"line {n}, of five": {1: 1.0, 512: 8.0 + n / 100} for n in range(5)}, "ranks", "times", "Five"
    ),
    "expert_shares": lambda: show.expert_shares(),
    "flop_shares": lambda: show.flop_shares(("175B",)),
    "heads": lambda: show.heads(8, 8),
    "heads, one": lambda: show.heads(1, 1),
    "horovod": lambda: show.horovod(recording("timelines").value["fused"]),
    "lines": lambda: show.lines([(8 * w, w) for w in range(512)], 10**12, 512),
    "lines, shared": lambda: show.lines([(0, w) for w in range(512)], 1, 512),
    "loss_by_bytes": lambda: show.loss_by_bytes(
        [Trained(LONG, f"{n}", n, MOST / n, LEAST * n, 7.9) for n in (1, 512)]
        + [Trained("few", f"{n}", n, 1.0 / n, 100.0, 7.9) for n in (1, 8)], LONG, "period"
    ),
    "matrix_cuts": lambda: show.matrix_cuts(4),
    "matrix_cuts, one": lambda: show.matrix_cuts(1),
    "memory_over_time": lambda: show.memory_over_time(held(10**12, MOST)),
    "memory_over_time, least": lambda: show.memory_over_time(held(1, LEAST)),
    "memory_stacks": lambda: show.memory_stacks("1T", 1024, 0),
    "memory_stacks, one": lambda: show.memory_stacks("1.5B", 1, 3),
    "message_times": lambda: show.message_times([1, 10**12], [LEAST, MOST], LEAST, 1.0),
    "pipeline": lambda: show.pipeline("pipedream", 16, 64, among=("pipedream",)),
    "pipeline, one": lambda: show.pipeline("gpipe", 1, 1),
    "pipeline, cut in two": lambda: show.pipeline("zb_h1", 4, 64, among=("zb_h1",)),
    "pipeline, interleaved": lambda: show.pipeline("interleaved", 4, 16, chunks=3, among=("interleaved",)),
    "predict": lambda: predict("extreme", f"{LONG}, {LONG}, {LONG}, {LONG}: how many?", "examples a second"),
    "reconcile": lambda: Drawn(Comparison(f"{LONG}, {LONG}?", "examples a second", MOST, LEAST, 1.0).svg(LONG * 9)),
    "reconcile, alike": lambda: Drawn(Comparison("How?", "examples a second", 99999.5, 99998.5, 123456789.0).svg()),
    "reconcile, zero": lambda: Drawn(Comparison("How many?", "ms", 0.0, -MOST, MOST).svg()),
    "reconcile, one": lambda: Drawn(Comparison("How many?", "", None, LEAST).svg()),
    "ring": lambda: show.ring(16),
    "ring, one": lambda: show.ring(1),
    "roofline": lambda: show.roofline(
        MOST, {LONG: MOST, "memory": LEAST}, {LONG: (MOST, 1.0, 1.0), "b": (1.0, MOST, MOST), "c": (1e6, 1e6)}
    ),
    "tasks": lambda: show.tasks([Task(LONG, MOST), Task("b", LEAST, (LONG,)), Task("c", 1, ("b",))], workers=12),
    "tasks, one": lambda: show.tasks([Task("b", LEAST)], workers=1),
    "timeline, 512 ranks": lambda: show.timeline(trace_of(512, MOST)),
    "timeline, one rank": lambda: show.timeline(trace_of(1, LEAST)),
    "timeline, unequal": lambda: show.timeline(unequal_trace()),
    "timeline, every kind": lambda: show.timeline(
        trace_of(8, MOST, ("broadcast", "reduce", "scatter", "gather", "reduce_scatter", "all_to_all", "barrier"))
    ),
    "deadlock of 16": lambda: show.timeline(
        Deadlock(
            LONG, [RankState(r, "waiting", f"send(dst={(r + 1) % 16})", LONG, LONG, ((r + 1) % 16,)) for r in range(16)]
        )
    ),
    "xray": lambda: show.xray(dyed := dye(ring_all_reduce, ranks=9, steps=True), total(dyed), LONG),
}  # fmt: skip
