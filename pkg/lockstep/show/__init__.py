"""Figures: events in, pictures out. Each moves where scripts run, and is an SVG (``.svg()``) everywhere else."""

from lockstep.show.active_and_total import active_and_total
from lockstep.show.additions import additions
from lockstep.show.amdahl import amdahl
from lockstep.show.assignment import assignment
from lockstep.show.audit import audit
from lockstep.show.balance import balance
from lockstep.show.bars import bars
from lockstep.show.batch_and_rate import batch_and_rate
from lockstep.show.blocks_on_sms import blocks_on_sms
from lockstep.show.board import board
from lockstep.show.chart import chart
from lockstep.show.costs import costs
from lockstep.show.curves import curves
from lockstep.show.expert_shares import expert_shares
from lockstep.show.flop_shares import flop_shares
from lockstep.show.heads import heads
from lockstep.show.horovod import horovod
from lockstep.show.inside_and_across import inside_and_across
from lockstep.show.kept_by_ranks import kept_by_ranks
from lockstep.show.lines import lines
from lockstep.show.loss_by_bytes import loss_by_bytes
from lockstep.show.losses_of_twelve import losses_of_twelve
from lockstep.show.matrix_cuts import matrix_cuts
from lockstep.show.memory_over_time import memory_over_time
from lockstep.show.memory_stacks import memory_stacks
from lockstep.show.message_times import message_times
from lockstep.show.old_weights import old_weights
from lockstep.show.pipeline import pipeline
from lockstep.show.predict import predict
from lockstep.show.processors import processors
from lockstep.show.product_by_tiles import product_by_tiles
from lockstep.show.race import race
from lockstep.show.reconcile import reconcile
from lockstep.show.registers import registers
from lockstep.show.ring import ring
from lockstep.show.roofline import roofline
from lockstep.show.routed_text import routed_text
from lockstep.show.sgd_map import sgd_map
from lockstep.show.survey import survey
from lockstep.show.tasks import tasks
from lockstep.show.tensor_core import tensor_core
from lockstep.show.timeline import timeline
from lockstep.show.warp import warp
from lockstep.show.xray import xray
from lockstep.tally import counted as progress

__all__ = [
    "active_and_total",
    "additions",
    "amdahl",
    "assignment",
    "audit",
    "balance",
    "bars",
    "batch_and_rate",
    "blocks_on_sms",
    "board",
    "chart",
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
    "pipeline",
    "predict",
    "processors",
    "product_by_tiles",
    "progress",
    "race",
    "reconcile",
    "registers",
    "ring",
    "roofline",
    "routed_text",
    "sgd_map",
    "survey",
    "tasks",
    "tensor_core",
    "timeline",
    "warp",
    "xray",
]
