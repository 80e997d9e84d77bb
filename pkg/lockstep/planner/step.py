"""The time of a training step: compute, exposed communication by axis, bubble and optimizer, added up.

    p = pp, v = vp, m micro-batches of a pipeline         F, B   a stage's forward and backward, with its communication

    step  =  m·(F+B)              the last stage never waits once it has begun: it also has the output
          +  (p-1)/v·(F+B)        bubble: the pipeline fills and empties (arXiv:2104.04473, section 2.2)
          +  messages between stages, where they do not run beside compute
          +  what of the sum of gradients the last backward pass does not hide
          +  optimizer

Recomputation repeats the forward pass (full), or attention's core (selective; with flash attention: norms and
activation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from lockstep.planner import communication, compute, memory
from lockstep.planner.clusters import Cluster
from lockstep.planner.compute import Machine, Seconds
from lockstep.planner.memory import Needs
from lockstep.planner.models import Model
from lockstep.planner.plans import Job, Plan, micro_batches
from lockstep.planner.stacks import Stack

AXES = ("dp", "tp", "pp", "cp", "ep")
OPERATIONS = {True: (22.0, 40.0), False: (45.0, 70.0)}  # kernels of a dense layer forward, backward: fused, or not


@dataclass(frozen=True)
class Estimate:
    """What a plan's step takes. Seconds of a step; ``communication``: exposed, by axis."""

    plan: Plan
    step_time: float
    computing: float
    recomputing: float
    host: float  # what GPUs wait for their host to launch kernels
    communication: dict[str, float]
    bubble: float  # seconds
    optimizer: float
    memory_by_kind: dict[str, float] = field(repr=False)

    @property
    def memory(self) -> float:
        """Bytes on the fullest GPU."""
        return sum(self.memory_by_kind.values())


@dataclass(frozen=True)
class _Layer:
    """One layer and micro-batch on a GPU, in seconds."""

    work: Seconds
    again: float  # recomputed
    tensor: float  # collectives, exposed, of forward and backward
    context: float
    experts: float
    waits: float  # for the host

    @cached_property
    def busy(self) -> float:
        return self.work.forward + self.work.backward

    @cached_property
    def total(self) -> float:
        return self.busy + self.again + self.tensor + self.context + self.experts + self.waits


def estimate(job: Job, plan: Plan, stack: Stack) -> Estimate:
    """The step of ``plan``, which is taken as legal."""
    return of_any_chunks(job, plan, stack).estimate(plan.vp, memory.of_any_chunks(job, plan, stack))


class Steps(NamedTuple):
    """Seconds of the steps of plans that differ in vp only."""

    plan: Plan
    stack: Stack
    m: int  # micro-batches
    computing: float
    again: float
    waits: float
    dp: float
    tp: float
    message: float  # between stages, one
    cp: float
    ep: float
    each: float  # a micro-batch on a stage
    update: float

    def seconds(self, vp: int) -> float:
        """Of the whole step with ``vp`` chunks."""
        return self.computing + self.again + self.waits + sum(self.exposed(vp)) + self.bubble(vp) + self.update

    def exposed(self, vp: int) -> tuple[float, ...]:
        """Communication, in the order of AXES. Each micro-batch and chunk exchanges with both neighbours, forward and
        backward."""
        beside = self.stack.contention if self.stack.overlap_pipeline and vp > 1 else 1.0
        messages = 2 * self.message * (beside * self.m * vp + self.plan.pp - 1)
        return self.dp, self.tp, messages, self.cp, self.ep

    def bubble(self, vp: int) -> float:
        return (self.plan.pp - 1) / vp * self.each

    def estimate(self, vp: int, needs: Needs) -> Estimate:
        return Estimate(
            self.plan._replace(vp=vp), self.seconds(vp), self.computing, self.again, self.waits,
            dict(zip(AXES, self.exposed(vp), strict=True)), self.bubble(vp), self.update, needs.by_kind(vp),
        )  # fmt: skip


def at_least(job: Job, plan: Plan, stack: Stack, vp: int) -> float:
    """Seconds of ``plan``'s layers with ``vp`` chunks, and of the bubble that they make: less than the whole step.
    (Added up in another order; so less by a little.)"""
    on = _machine(job.cluster.gpu, stack, job.precision)
    each = sum([layer.total * number for layer, number in _layers(on, job, plan)]) / plan.pp
    return (1 - 1e-9) * each * (micro_batches(job, plan) + (plan.pp - 1) / vp)


def of_any_chunks(job: Job, plan: Plan, stack: Stack) -> Steps:
    """The steps of ``plan``, and of those that differ from it in vp only."""
    on = _machine(job.cluster.gpu, stack, job.precision)
    m, p = micro_batches(job, plan), plan.pp
    here = [(layer, number / p) for layer, number in _layers(on, job, plan)]
    end = compute.output(on, job.model, plan.micro_batch, plan.tp, plan.cp)
    output = (end.forward + end.backward) * (1 + job.model.predicted_further)
    balanced = p > 1 and job.model.all_layers % p != 0  # a layout that counts the output as a layer
    on_the_last, on_each = (output / p, output / p) if balanced else (output, 0.0)

    def summed(what: str) -> float:
        return m * sum([float(getattr(layer, what)) * number for layer, number in here])

    return Steps(
        plan, stack, m,
        computing=summed("busy") + m * on_the_last, again=summed("again"), waits=summed("waits"),
        dp=_sum_of_gradients(job, plan, stack, here, on_the_last), tp=summed("tensor"),
        message=_message(job, plan, stack), cp=summed("context"), ep=summed("experts"),
        each=summed("total") / m + on_each, update=_optimizer(on, job, plan),
    )  # fmt: skip


_machine = lru_cache(maxsize=1_000)(Machine)  # one object, so that its hash is known


def _layers(on: Machine, job: Job, p: Plan) -> list[tuple[_Layer, int]]:
    """The kinds of layers, and how many of each the model has."""
    moe = job.model.moe_layers
    numbers = ((True, moe), (False, job.model.all_layers - moe))
    return [
        (_layer_of(on, job.model, job.cluster, _Local(p.micro_batch, p.tp, p.cp, p.ep if kind else 1, p.recompute,
                   p.sequence_parallel, job.dispatch), kind), number)
        for kind, number in numbers if number
    ]  # fmt: skip


class _Local(NamedTuple):
    """What of a plan one layer and micro-batch on one GPU depends on."""

    micro: int
    tp: int
    cp: int
    ep: int
    recompute: str
    divided: bool
    dispatch: str


@lru_cache(maxsize=50_000)
def _layer_of(on: Machine, model: Model, cluster: Cluster, local: _Local, moe: bool) -> _Layer:
    micro, tp, cp, ep, recompute, divided, dispatch = local
    r = tp if divided else 1
    stack = on.stack
    work = compute.attention(on, model, micro, tp, cp, r)
    work += (
        compute.expert_mlp(on, model, micro, tp, cp, ep, r) if moe else compute.dense_mlp(on, model, micro, tp, cp, r)
    )
    if moe and dispatch == "fp8":
        work += compute.dispatch_casts(on, model, micro, tp, cp)
    cheap = work.pointwise + stack.recomputed_matmul * work.matmul / 3 if stack.flash else work.core
    again = {"none": 0.0, "full": work.forward, "selective": cheap}[recompute]
    twice = 3 if recompute == "full" else 2  # collectives forward, backward, and where the forward pass is repeated
    n = 2 * micro * model.seq / cp * model.hidden
    one = communication.collective(cluster, n, tp, 1, not divided) * (2 if divided else 1)
    tensor = (1 if moe else 2) * twice * one * (1 - stack.overlap_tensor)
    context = _context(model, cluster, local, work.core if stack.overlap_data else 0.0)
    experts = twice * _exchange(cluster, model, n / tp / 2, ep, dispatch, stack) if moe else 0.0
    busy = work.forward + work.backward + again + tensor + context + experts
    return _Layer(work, again, tensor, context, experts, _waits(on, model, cluster, local, moe, busy))


def _exchange(cluster: Cluster, model: Model, numbers: float, ep: int, dispatch: str, stack: Stack) -> float:
    """Exposed seconds in which so many ``numbers`` of tokens go to their experts and come back."""
    each = (communication.DISPATCHED[dispatch], communication.COMBINED)
    sent = [nbytes * numbers * model.top_k / stack.expert_wire for nbytes in each]
    both = sum(communication.all_to_all(cluster, nbytes, ep, 1, model.top_k) for nbytes in sent)
    return both * (1 - stack.overlap_experts)


def _context(model: Model, cluster: Cluster, local: _Local, hidden: float) -> float:
    """Keys and values of the whole sequence are gathered forward and once more backward, and their gradients scattered,
    beside attention of ``hidden`` seconds forward."""
    if local.cp == 1:
        return 0.0
    wide = 2 * max(model.kv_heads / local.tp, 1) * model.head_dim
    if m := model.latent:
        wide = model.heads / local.tp * (m.plain + m.value)
    one = communication.collective(cluster, 2 * local.micro * model.seq * wide, local.cp, local.tp, False)
    return max(0.0, one - hidden) + max(0.0, 2 * one - 2.5 * hidden)


def _waits(on: Machine, model: Model, cluster: Cluster, local: _Local, moe: bool, busy: float) -> float:
    """Seconds that a GPU waits for its host: where launching a layer's kernels takes longer than the ``busy`` seconds
    that they run; and where the host must learn first how many tokens each expert gets."""
    stack = on.stack
    if stack.graphs and cluster.host_memory:
        return 0.0
    if moe:
        experts = model.experts / local.ep
        launching = stack.host * (stack.expert_kernels[0] + experts * stack.expert_kernels[1])
        return max(stack.expert_host + experts * stack.expert_host_each, launching - busy)
    ahead, back = OPERATIONS[stack.fused]
    return max(0.0, stack.host * (ahead * (2 if local.recompute == "full" else 1) + back) - busy)


def _message(job: Job, plan: Plan, stack: Stack) -> float:
    """A tensor goes to the next stage in tp parts, one a GPU, and is gathered over NVLink (arXiv:2104.04473, section
    4.1)."""
    if plan.pp == 1:
        return 0.0
    whole = 2 * plan.micro_batch * job.model.seq / plan.cp * job.model.hidden
    stride = plan.tp * plan.cp * plan.dp
    scattered = stack.scattered or plan.sequence_parallel
    one = communication.message(job.cluster, whole / plan.tp if scattered else whole, stride)
    if scattered and not plan.sequence_parallel:
        one += communication.collective(job.cluster, whole, plan.tp, 1, False)
    return one


def _sum_of_gradients(job: Job, plan: Plan, stack: Stack, here: Sequence[tuple[_Layer, float]], end: float) -> float:
    """Exposed seconds of data parallelism."""
    dense, experts = memory.parameters_of(job, plan)
    groups = (
        (dense, plan.dp * plan.cp, plan.tp),
        (experts, max(1, plan.dp * plan.cp * plan.tp // plan.ep), plan.ep),
    )

    by_layers = plan.zero == 3 and not memory.stays_gathered(plan.pp, plan.zero, stack)
    units = max(1.0, job.model.all_layers / plan.pp) if by_layers else 1.0  # a layer is gathered at a time

    def all_of(each: float, both_ways: bool) -> float:
        return units * sum(
            communication.collective(job.cluster, each * n / units, size, stride, both_ways, stack.network)
            for n, size, stride in groups
            if n
        )

    ahead = sum([layer.work.forward * number for layer, number in here])
    back = sum([layer.work.backward * number for layer, number in here]) + end
    hidden = stack.overlap_data if plan.overlap else 0.0

    def seen(seconds: float, beside: float) -> float:
        covered = min(seconds, hidden * beside)
        return seconds - covered + stack.contention * covered

    if plan.zero == 0:
        return seen(all_of(stack.gradient_bytes, True), back)
    scatter, gather = all_of(stack.gradient_bytes, False), all_of(2.0, False)
    if not by_layers:
        times = micro_batches(job, plan) if plan.zero == 2 else 1
        return times * seen(scatter, back) + seen(gather, ahead)
    first = gather / units  # nothing hides the first layer's
    return micro_batches(job, plan) * (first + seen(gather - first, ahead) + seen(gather + scatter, back))


def _optimizer(on: Machine, job: Job, plan: Plan) -> float:
    dense, experts = memory.parameters_of(job, plan)
    if plan.zero:
        copies = plan.dp * plan.cp
        dense, experts = dense / copies, experts / max(1, copies * plan.tp // plan.ep)
    return compute.optimizer(on, dense + experts, on.stack.gradient_bytes)
