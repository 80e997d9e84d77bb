"""GPT-3 on 96 A100, tp 8 and pp 12: each number by hand, then planned, simulated and published.

    L = 96, h = 12,288, s = 2,048, V = 51,200         B sequences a step, one a micro-batch: m = B, dp = 1

    parameters of a GPU   (12·L·h² + V·h) / 96
    compute               96·B·s·L·h²·(1 + s/6h + V/16Lh) FLOP of all GPUs, recomputation included
                          (Narayanan et al., arXiv:2104.04473, equation 3)
    bubble                (p - 1)/m of the compute without it
    tp                    6 all-reduces a layer and micro-batch (2 forward, 2 recomputed, 2 backward) of 2·s·h bytes:
                          each rank sends 2·7/8 of them
    pp                    2·s·h bytes a micro-batch to the next stage, in 8 parts, and as many back

Published: figure 12 of the same paper, read off it, without and with interleaving. The rate by hand is a matrix
product's as the data sheet has it: what is missing in it is the miss of the hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from lockstep.hybrid.grid import GPTSize, Grid, layers_of_chunks
from lockstep.hybrid.published_steps import MACHINE, hardware_flops
from lockstep.hybrid.simulated_step import Segments, SimulatedStep, cast, record, told
from lockstep.machines import Cluster
from lockstep.planner import cases
from lockstep.planner.answers import LOW_AND_HIGH
from lockstep.planner.scores import Scored, score
from lockstep.planner.step import Estimate
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.virtual.players import play

GPT3 = GPTSize(96, 12288, 96)
TP, PP, GPUS, BATCH = 8, 12, 96, 24
GRID = Grid(tp=TP, pp=PP, recompute="full")
PEAK, NVLINK, NETWORK = 312e12, 300e9, 25e9  # FLOP/s and bytes/s of the data sheets
BYTES_A_PARAMETER = 16  # weight, gradient, and in float32 master weight and Adam's two moments: 2 + 2 + 12
FIGURE = "megatron_sc21_fig12"


class Hand(NamedTuple):
    """Seconds and bytes of a GPU."""

    parameters: float
    states: float  # bytes
    computing: float
    bubble: float
    tp: float
    pp: float
    tp_bytes: float
    pp_bytes: float

    @property
    def seconds(self) -> float:
        return self.computing + self.bubble + self.tp + self.pp


def by_hand(batch: int = BATCH, chunks: int = 1, rate: float = PEAK) -> Hand:
    """``rate``: FLOP/s of a GPU; ``chunks``: v of interleaving, which divides the bubble."""
    L, h, s = GPT3.layers, GPT3.hidden, GPT3.seq
    parameters = (12 * L * h * h + GPT3.vocab * h) / GPUS
    computing = hardware_flops(GPT3, batch) / GPUS / rate
    tp_bytes = 6 * L / PP * batch * 2 * s * h * 2 * (TP - 1) / TP
    pp_bytes = 2 * batch * 2 * s * h / TP
    tp, pp = tp_bytes / NVLINK, pp_bytes / NETWORK
    bubble = (PP - 1) / (chunks * batch) * (computing + tp)
    return Hand(parameters, BYTES_A_PARAMETER * parameters, computing, bubble, tp, pp, tp_bytes, pp_bytes)


@cache
def scored() -> tuple[Scored, ...]:
    """Every published step of the course's tables beside the planner and the best constant."""
    return tuple(score(cases.everything()))


def of_figure(batch: int = BATCH, chunks: int = 1) -> Scored:
    series = "noninterleaved" if chunks == 1 else "interleaved_v4"
    return next(s for s in scored() if s.case.table == FIGURE and s.case.row == f"{series} x={batch}")


def published_seconds(s: Scored) -> float:
    return s.case.job.tokens / s.case.tokens_per_second / s.case.job.cluster.gpus


def planned(batch: int = BATCH, chunks: int = 1) -> Estimate:
    return of_figure(batch, chunks).found.best[0]


@cache
def simulated(batch: int = BATCH, chunks: int = 1, on: Cluster = MACHINE) -> SimulatedStep:
    """All layers recomputed, on A100 as programs reach them: ``simulate_step``, whose instructions are recorded once
    for all batches."""
    segments = recorded(chunks)
    layers = layers_of_chunks(GPT3, GRID, PP * chunks)
    return told(play(segments, cast(segments, GRID, layers, batch, on), on), GRID, on)


@cache
def recorded(chunks: int) -> Segments:
    (segments,) = (record(GPT3, GRID, n, BATCH, MACHINE) for n in counted([chunks], "Recording", each=5.0))
    return segments


def hand_table(batch: int = BATCH) -> Table:
    """Item by item."""
    hand, plan, step = by_hand(batch), planned(batch), simulated(batch)
    memory = plan.memory_by_kind
    states = memory["weights"] + memory["gradients"] + memory["optimizer"]
    published = published_seconds(of_figure(batch))
    computing = plan.computing + plan.recomputing + plan.host + plan.optimizer
    rows = [
        ["weights, gradients, optimizer", gigabytes(hand.states), gigabytes(states), gigabytes(held(step)), ""],
        ["computing", *seconds(hand.computing, computing, step.parts["compute"]), ""],
        ["waiting for tp", *seconds(hand.tp, plan.communication["tp"], step.parts["tp"]), ""],
        ["messages of pp", *seconds(hand.pp, plan.communication["pp"], step.parts["pp"]), ""],
        ["bubble", *seconds(hand.bubble, plan.bubble, step.parts["bubble"]), ""],
        ["the step", *seconds(hand.seconds, plan.step_time, step.time, published)],
    ]
    told = f"GPT-3 on {GPUS} A100, tp {TP}, pp {PP}, {batch} sequences"
    return Table(told, ["", "by hand", "planned", "simulated", "published"], rows)


def held(step: SimulatedStep) -> float:
    """Bytes of weights, gradients and optimizer at the fullest rank's peak."""
    fullest = max(step.memory, key=lambda memory: memory.peak)
    return float(sum(fullest.at_peak[kind] for kind in ("parameters", "gradients", "optimizer state")))


def batches_table(batches: Sequence[int] = (12, 24), every: Sequence[int] = (1,)) -> Table:
    """The same for more batches; ``every``: chunks of a stage, 4 with interleaving."""
    rows: list[list[str]] = []
    interleaved = tuple(every) != (1,)
    for chunks, batch in counted(list(product(every, batches)), "Simulating", each=1.5):
        one, wanted = of_figure(batch, chunks), published_seconds(of_figure(batch, chunks))
        by_constant = wanted / (1 + one.constant_error)
        found = [
            by_hand(batch, chunks).seconds,
            by_constant,
            one.found.best[0].step_time,
            simulated(batch, chunks).time,
        ]
        off = (f"{t:.2f} s, {t / wanted - 1:+.0%}" for t in found)
        rows.append([str(batch), *([str(chunks)] if interleaved else []), f"{wanted:.2f} s", *off])
    head = ["batch", "chunks"] if interleaved else ["batch"]
    head += ["published", "by hand", "best constant", "planned", "simulated"]
    return Table("The same on other batches, and by how much each is off", head, rows)


def seconds(*times: float) -> list[str]:
    return [f"{t:.2f} s" for t in times]


def gigabytes(n: float) -> str:
    return f"{n / 1e9:.1f} GB"


# ---- all tables


class Errors(NamedTuple):
    """Of a table's rows: errors of tokens a second, in absolute value. ``part``: what the rows were used for."""

    table: str
    part: str
    own: Sequence[float]
    constant: Sequence[float]


def errors() -> list[Errors]:
    found = dict[tuple[str, str], list[Scored]]()
    for s in scored():
        found.setdefault((s.case.table, s.case.part), []).append(s)
    return [
        Errors(table, part, sorted(abs(s.error) for s in rows), sorted(abs(s.constant_error) for s in rows))
        for (table, part), rows in found.items()
    ]


def errors_table() -> Table:
    """Every table, whole: the median row, and the worst."""
    rows = [
        [e.table.replace("_", " "), e.part, str(len(e.own)),
         *(percent(n) for each in (e.own, e.constant) for n in (middle(each), each[-1]))]
        for e in errors()
    ]  # fmt: skip
    head = ["published table", "used for", "rows", "planner", "worst", "constant", "worst"]
    return Table(
        "How far off tokens a second are: the median row and the worst, by planner and by constant", head, rows
    )


def within_bars() -> float:
    """The share of rows that did not calibrate whose published time lies in the planner's range."""
    found = [s for s in scored() if s.case.part != "calibration" and not s.case.regression]
    inside = 0
    for s in found:
        low, high = LOW_AND_HIGH["mixture" if s.case.mixture else "dense"]
        inside += low <= 1 + s.error <= high
    return inside / len(found)


def middle(values: Sequence[float]) -> float:
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"
