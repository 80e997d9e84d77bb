"""A plan: how a model's training step is divided among GPUs, and what makes a plan illegal.

    dp   copies of the model                        zero   what the copies share out: 1 optimizer, 2 gradients, 3
         weights
    tp   parts of each layer                        recompute   none, selective (attention's core; norms and
         activations),
    pp   stages; vp chunks of layers on each                    full (whole layers)
    cp   parts of each sequence                     sequence_parallel   norms and dropout are divided by tp, too
    ep   parts of the experts                       overlap     the sum of gradients runs beside the backward pass

    gpus = dp·tp·pp·cp       batch = dp·micro_batch·m, with m micro-batches a pipeline       ep divides dp·cp·tp

GPUs are numbered with tp fastest, then cp, dp, pp: tensor parallelism stays on NVLink as long as it can.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from lockstep.planner.clusters import Cluster
from lockstep.planner.hashed_once import hashed_once
from lockstep.planner.models import Model

RECOMPUTE = ("none", "selective", "full")


class Plan(NamedTuple):
    """The division of a step. ``vp``: chunks of layers on each stage, 1 without interleaving."""

    dp: int = 1
    tp: int = 1
    pp: int = 1
    vp: int = 1
    ep: int = 1
    cp: int = 1
    zero: int = 1
    micro_batch: int = 1
    recompute: str = "none"
    sequence_parallel: bool = False
    overlap: bool = True

    @property
    def gpus(self) -> int:
        return self.dp * self.tp * self.pp * self.cp


AXES = tuple(Plan._fields)


@hashed_once
@dataclass(frozen=True)
class Job:
    """What is planned: a model's step on a cluster. ``batch``: sequences of ``model.seq`` tokens in a step.
    ``dispatch``: how tokens travel to their experts, "bf16" or "fp8" (``communication``)."""

    model: Model
    cluster: Cluster
    batch: int
    precision: str = "bf16"
    dispatch: str = "bf16"

    @property
    def tokens(self) -> int:
        return self.batch * self.model.seq


def micro_batches(job: Job, plan: Plan) -> int:
    """Micro-batches of a pipeline in a step."""
    return job.batch // (plan.dp * plan.micro_batch)


def illegal(job: Job, plan: Plan, among: Collection[str] = AXES) -> str:
    """The first rule that a plan breaks, as a sentence; "" if it breaks none. Only rules of axes in ``among`` count."""
    rule = broken(job, plan, among)
    return rule.told if rule else ""


def broken(job: Job, plan: Plan, among: Collection[str] = AXES) -> Rule | None:
    """The same as the rule itself, which says what axes it is about."""
    return next((rule for rule in _rules(job, plan) if set(rule.axes) <= set(among)), None)


class Rule(NamedTuple):
    """A rule that is broken. ``axes``: what it is about."""

    axes: tuple[str, ...]
    told: str


def _rules(job: Job, p: Plan) -> Iterator[Rule]:
    """Those that ``p`` breaks."""
    yield from _of_the_model(job.model, p)
    if p.gpus != job.cluster.gpus:
        yield from _of_the_cluster(job, p)
    group = p.dp * p.cp * p.tp
    if group % p.ep:
        yield Rule(("ep", "dp", "cp", "tp"), f"ep={p.ep} does not divide dp·cp·tp={group}.")
    yield from _of_the_batch(job, p)
    if p.sequence_parallel and p.tp == 1:
        yield Rule(("sequence_parallel", "tp"), "sequence_parallel needs tp above 1.")


def _of_the_model(m: Model, p: Plan) -> Iterator[Rule]:
    dense = not m.experts
    if m.heads % p.tp:
        yield Rule(("tp",), f"tp={p.tp} does not divide {m.heads} heads.")
    if m.kv_heads % p.tp:
        yield Rule(("tp",), f"tp={p.tp} does not divide {m.kv_heads} KV heads.")
    if dense and m.ffn % p.tp:
        yield Rule(("tp",), f"tp={p.tp} does not divide an MLP's width of {m.ffn}.")
    if p.pp > m.layers:
        yield Rule(("pp",), f"pp={p.pp} is more than {m.layers} layers.")
    if dense and _uneven(m.layers, p.pp):
        yield Rule(("pp",), f"pp={p.pp} does not divide {m.layers} layers.")
    if p.vp > 1 and p.pp == 1:
        yield Rule(("vp", "pp"), f"vp={p.vp} needs a pipeline, and pp is 1.")
    if p.pp * p.vp > m.layers + 2:
        yield Rule(("pp", "vp"), f"pp·vp={p.pp * p.vp} is more than {m.layers} layers.")
    if dense and p.vp > 1 and _uneven(m.layers, p.pp * p.vp):
        yield Rule(("pp", "vp"), f"pp·vp={p.pp * p.vp} does not divide {m.layers} layers.")
    if dense and p.ep > 1:
        yield Rule(("ep",), f"ep={p.ep} needs experts, and this model has none.")
    if not dense and m.experts % p.ep:
        yield Rule(("ep",), f"ep={p.ep} does not divide {m.experts} experts.")
    if p.cp > 1 and m.seq % (2 * p.cp):
        yield Rule(("cp",), f"cp={p.cp} does not cut {m.seq:,} positions into 2·cp equal pieces.")
    if p.sequence_parallel and m.seq // p.cp % p.tp:
        told = f"tp={p.tp} does not divide {m.seq // p.cp:,} positions, as sequence_parallel needs."
        yield Rule(("sequence_parallel", "tp", "cp"), told)


def _of_the_cluster(job: Job, p: Plan) -> Iterator[Rule]:
    """Those of a plan for another number of GPUs: which axes are to blame."""
    n = job.cluster.gpus
    for axis in ("dp", "tp", "pp", "cp"):
        if n % getattr(p, axis):
            yield Rule((axis,), f"{axis}={getattr(p, axis)} does not divide {n:,} GPUs.")
    for some in (("dp", "tp"), ("dp", "pp"), ("tp", "pp"), ("dp", "tp", "pp"), ("tp", "pp", "cp")):
        parts = prod(getattr(p, axis) for axis in some)
        if n % parts:
            yield Rule(some, f"{'·'.join(some)} is {parts:,}, which does not divide {n:,} GPUs.")
    yield Rule(("dp", "tp", "pp", "cp"), f"dp·tp·pp·cp is {p.gpus:,}, and there are {n:,} GPUs.")


def _of_the_batch(job: Job, p: Plan) -> Iterator[Rule]:
    if job.batch % p.micro_batch:
        told = f"micro_batch={p.micro_batch} does not divide a batch of {job.batch:,} sequences."
        yield Rule(("micro_batch",), told)
    if job.batch % p.dp:
        yield Rule(("dp",), f"dp={p.dp} does not divide a batch of {job.batch:,} sequences.")
    if job.batch % (p.dp * p.micro_batch):
        told = f"micro_batch={p.micro_batch} does not divide the {job.batch // p.dp:,} sequences of a copy."
        yield Rule(("dp", "micro_batch"), told)
    many = micro_batches(job, p)
    if p.vp > 1 and many % p.pp:
        told = f"Interleaving needs micro-batches in multiples of pp={p.pp}, and there are {many:,}."
        yield Rule(("vp", "pp", "dp", "micro_batch"), told)


def _uneven(layers: int, parts: int) -> bool:
    """Embedding and output may count as a layer each, as in Llama 3's 126 layers on 16 stages."""
    return all((layers + extra) % parts for extra in (0, 1, 2))
