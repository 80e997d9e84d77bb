"""Figures: events and numbers in, pictures out. Each is a still SVG (``.svg()``) and, where scripts run, moves.

What all figures are made of:

    figure              the kinds of figures, and how one comes into a page (docs/figures.md)
    widget              a figure that asks its kernel
    player              a figure of steps drawn ahead, with sliders
    motion              a drawing with a clock, and what is seen moving from step to step
    chart               an ordinary chart, described in Vega-Lite
    openings            the picture at the top of each lesson, drawn by ``lockstep build``
    svg                 elements of a drawing
    side_by_side        values beside each other: bars from zero, or dots on a logarithmic axis
    palette             one colour for each kind of event, in all figures
    quantities          seconds, bytes and counts as text; ticks of an axis

Timelines of events:

    timeline            what every rank did, and when
    timeline_svg        its still picture
    compared            what ranks did in several runs, on one axis
    trace_file          a trace in a file, also a profiler's: threads and streams for ranks
    document            a figure as a file that a browser opens
    lanes               a lane for each rank, its bars and its arrows
    shared_lanes        a lane for ranks that did the same, and the lanes of several runs
    phases              which of a rank's computations are forward, backward and update
    buckets             gradients on their way under the backward pass
    waiting             the wait-for graph of a failed run
    horovod             Horovod's timeline: negotiation, fusion, the collective
    inside_and_across   a step of tensor parallelism inside a node and across nodes
    tasks               a task graph, its critical path, and a schedule on some workers

Networks and collectives:

    costs               an all-reduce's time against its size, by algorithm (α-β model)
    message_times       measured times of a message, and the line fitted to them
    ring                the ring all-reduce, step by step
    xray                whose numbers are in a result, step by step
    xray_model          what each of its cells holds

Memory of ranks:

    memory_over_time    a rank's bytes, by kind, while its program runs
    memory_stacks       the model states on a rank under each of ZeRO's stages
    kept_by_ranks       activations that a rank keeps for the backward pass under tensor parallelism
    matrix_cuts         a product cut by columns and by rows, and which rank has which numbers
    heads               which rank has which attention heads

Training and its curves:

    batch_and_rate      test error by batch size, under each rule for the learning rate
    loss_by_bytes       loss against the bytes that a rank has sent
    losses_of_twelve    the losses of twelve programs, at first and after 20 steps
    race                time, bytes and updates that each method needs until it reaches one loss
    sgd_map             where SGD can be made parallel, from fine to coarse

Pipelines:

    pipeline            a schedule: which stage computes which micro-batch when
    pipeline_model      its passes and its bubble
    pipeline_svg        its drawing
    pipeline_drawing    a learner's schedule as such a drawing
    drawing_board       a board to draw a schedule on
    balance             layers cut into stages, and the slowest stage
    old_weights         PipeDream's loss with and without weight stashing

Planning:

    bill                what a training costs, part by part, for two plans
    plan                plans of a training run: sliders, seconds, bytes, and all plans by memory and time
    plan_fields         the plans that it shows, computed ahead by the planner
    axes_on_links       which axis runs between nodes: bytes and time of each choice
    attention_ring      who attends to which keys, round by round, and who waits

Mixtures of experts:

    active_and_total    active and total parameters of published models
    expert_shares       the share of tokens that each expert gets
    flop_shares         where a model's FLOPs are
    routed_text         which expert each byte of a text is routed to
    tokens_to_experts   tokens on their way to the experts' ranks and back, step by step

Bottlenecks:

    padding             sequences of unequal length in batches
    streams             a host and a GPU's streams in virtual time
    three_roofs         steps under the roofs of compute, memory and network

One machine, and scikit-learn on it:

    amdahl              speedup by Amdahl's and Gustafson's laws
    survey              this machine: cores, caches, memory, GPUs
    processors          50 years of microprocessors
    roofline            kernels under a machine's roofs
    additions           additions in a core's pipelines, cycle by cycle
    bars                values as bars
    curves              access time against the size of an array
    cache_walk          a walk through a matrix, and the cache lines that it finds
    lines               the cache lines that threads share
    registers           a loop's instructions and registers
    assignment          rows assigned to workers, and who is idle
    audit               what each estimator's parallel settings do to its CPU time

GPU:

    warp                a warp's way through a kernel, instruction by instruction
    blocks_on_sms       blocks on streaming multiprocessors, in waves
    product_by_tiles    a matrix product by tiles in shared memory
    tensor_core         a tensor core's instruction, and which lane holds which element

Fields that ask the learner (``lockstep.predict`` and ``lockstep.reconcile`` make them):

    prediction_field    a number that is locked once committed
    reconciliation      predicted, simulated and measured, and a reason why they differ

The board is a widget and imported on first use: all other figures are drawn where Jupyter is not installed, too.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstep.show.active_and_total import active_and_total as active_and_total
    from lockstep.show.additions import additions as additions
    from lockstep.show.amdahl import amdahl as amdahl
    from lockstep.show.assignment import assignment as assignment
    from lockstep.show.attention_ring import attention_ring as attention_ring
    from lockstep.show.audit import audit as audit
    from lockstep.show.axes_on_links import axes_on_links as axes_on_links
    from lockstep.show.balance import balance as balance
    from lockstep.show.bars import bars as bars
    from lockstep.show.batch_and_rate import batch_and_rate as batch_and_rate
    from lockstep.show.blocks_on_sms import blocks_on_sms as blocks_on_sms
    from lockstep.show.buckets import buckets as buckets
    from lockstep.show.cache_walk import cache_walk as cache_walk
    from lockstep.show.chart import chart as chart
    from lockstep.show.compared import compared as compared
    from lockstep.show.costs import costs as costs
    from lockstep.show.curves import curves as curves
    from lockstep.show.expert_shares import expert_shares as expert_shares
    from lockstep.show.flop_shares import flop_shares as flop_shares
    from lockstep.show.heads import heads as heads
    from lockstep.show.horovod import horovod as horovod
    from lockstep.show.inside_and_across import inside_and_across as inside_and_across
    from lockstep.show.kept_by_ranks import kept_by_ranks as kept_by_ranks
    from lockstep.show.lines import lines as lines
    from lockstep.show.loss_by_bytes import loss_by_bytes as loss_by_bytes
    from lockstep.show.losses_of_twelve import losses_of_twelve as losses_of_twelve
    from lockstep.show.matrix_cuts import matrix_cuts as matrix_cuts
    from lockstep.show.memory_over_time import memory_over_time as memory_over_time
    from lockstep.show.memory_stacks import memory_stacks as memory_stacks
    from lockstep.show.message_times import message_times as message_times
    from lockstep.show.old_weights import old_weights as old_weights
    from lockstep.show.padding import padding as padding
    from lockstep.show.pipeline import pipeline as pipeline
    from lockstep.show.plan import plan as plan
    from lockstep.show.processors import processors as processors
    from lockstep.show.product_by_tiles import product_by_tiles as product_by_tiles
    from lockstep.show.race import race as race
    from lockstep.show.registers import registers as registers
    from lockstep.show.ring import ring as ring
    from lockstep.show.roofline import roofline as roofline
    from lockstep.show.routed_text import routed_text as routed_text
    from lockstep.show.sgd_map import sgd_map as sgd_map
    from lockstep.show.streams import streams as streams
    from lockstep.show.survey import survey as survey
    from lockstep.show.tasks import tasks as tasks
    from lockstep.show.tensor_core import tensor_core as tensor_core
    from lockstep.show.three_roofs import three_roofs as three_roofs
    from lockstep.show.timeline import timeline as timeline
    from lockstep.show.tokens_to_experts import tokens_to_experts as tokens_to_experts
    from lockstep.show.trace_file import trace_file as trace_file
    from lockstep.show.warp import warp as warp
    from lockstep.show.xray import xray as xray
    from lockstep.tally import counted as progress

__all__ = [
    "active_and_total",
    "additions",
    "amdahl",
    "assignment",
    "attention_ring",
    "audit",
    "axes_on_links",
    "balance",
    "bars",
    "batch_and_rate",
    "blocks_on_sms",
    "board",
    "buckets",
    "cache_walk",
    "chart",
    "compared",
    "costs",
    "curves",
    "expert_shares",
    "flop_shares",
    "heads",
    "horovod",
    "inside_and_across",
    "kept_by_ranks",
    "lines",
    "loss_by_bytes",
    "losses_of_twelve",
    "matrix_cuts",
    "memory_over_time",
    "memory_stacks",
    "message_times",
    "old_weights",
    "padding",
    "pipeline",
    "plan",
    "processors",
    "product_by_tiles",
    "progress",
    "race",
    "registers",
    "ring",
    "roofline",
    "routed_text",
    "sgd_map",
    "streams",
    "survey",
    "tasks",
    "tensor_core",
    "three_roofs",
    "timeline",
    "tokens_to_experts",
    "trace_file",
    "warp",
    "xray",
]

_ELSEWHERE = {"board": ("lockstep.show.drawing_board", "board"), "progress": ("lockstep.tally", "counted")}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, function = _ELSEWHERE.get(name, (f"{__name__}.{name}", name))
    value = globals()[name] = getattr(importlib.import_module(module), function)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Figures(ModuleType):
    """A figure and its module have one name, and in the package that is the figure's: Python would put the module there
    whenever anyone imports it."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_module = isinstance(value, ModuleType) and name in __all__
        super().__setattr__(name, getattr(value, name) if is_module else value)


sys.modules[__name__].__class__ = _Figures
