"""Bytes on the fullest GPU, by kind, with the published formulas.

Weights and gradients, and Adam's master weights and two moments in float32 (ZeRO, arXiv:1910.02054, section 3.1: 2 + 2
+ 12 bytes a parameter; gradients that are summed in float32 make it 18). ZeRO shares out the optimizer (1), the
gradients too (2), the weights too (3) among the copies.

Activations of a layer, in bytes for each token (Korthikanti et al., arXiv:2205.05198, equations 1 to 6), with letters
as in ``models`` and t = tp:

                              inputs of norms and matrices, masks      the rest
    without sequence_parallel 10·h                                     24·h/t + 5·a·s/t       GPT, scores kept
    with it                   34·h/t + 5·a·s/t
    flash attention           without 5·a·s/t, but a number for each head
    gated MLP, KV heads       instead of 24·h: queries, keys, values and result 2·(2a + 2g)·d, and 6·f of the MLP
    selective                 without 5·a·s/t; with flash attention: without the norms' and the activation's results,
                              and what multi-head latent attention makes of its latents
    full                      2·h, the input of the layer

The first of p stages keeps p micro-batches of its layers (1F1B), with vp chunks 1 + (p-1)/(p·vp) times as many. The
last has its logits, in 16 and twice in 32 bits unless the loss is fused.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from lockstep.planner.models import Model
from lockstep.planner.plans import Job, Plan, micro_batches
from lockstep.planner.stacks import Stack

MOST_OFFLOADED = 0.75  # of the activations; estimate
KINDS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "runtime")


def parameters_of(job: Job, plan: Plan) -> tuple[float, float]:
    """(dense parameters, experts' parameters) on the fullest GPU: the first or last stage, which has an embedding."""
    return _parameters(job.model, plan.tp, plan.pp, plan.ep)


@lru_cache(maxsize=20_000)
def _parameters(model: Model, tp: int, pp: int, ep: int) -> tuple[float, float]:
    m = model
    moe = m.moe_layers
    dense = m.all_layers * (m.attention_parameters / tp + 2 * m.hidden)
    dense += (m.all_layers - moe) * m.dense_mlp_parameters / tp
    dense += moe * (m.shared_experts * m.expert_parameters / tp + m.hidden * m.experts)
    ends = (m.embedding if m.tied or pp > 1 else 2 * m.embedding) / tp
    ends += m.learned_positions * m.hidden
    return dense / pp + ends, moe / pp * m.experts / ep * m.expert_parameters


def by_kind(job: Job, plan: Plan, stack: Stack) -> dict[str, float]:
    """Bytes on the fullest GPU, by KINDS."""
    return of_any_chunks(job, plan, stack).by_kind(plan.vp)


class Needs(NamedTuple):
    """Bytes of plans that differ in vp only. ``layer`` and ``at_work``: of activations, for each token, what every
    layer keeps, and what the one at work has; ``split``: what the numbers between layers are divided by."""

    job: Job
    plan: Plan
    states: dict[str, float]
    always: float  # their sum
    tokens: float  # of a micro-batch
    layer: float
    at_work: float
    split: int
    logits: float
    buffers: float
    stack: Stack

    def by_kind(self, vp: int) -> dict[str, float]:
        """By KINDS, with ``vp`` chunks."""
        found = {
            **self.states,
            "activations": self.activations(vp),
            "logits": self.logits,
            "buffers": self.buffers,
            "runtime": self.job.cluster.gpu.runtime,
        }
        if self.stack.offloads:
            found["activations"] -= _offloaded(self.job, self.plan, found)
        return found

    def total(self, vp: int) -> float:
        """The sum of ``by_kind``."""
        if self.stack.offloads and self.job.cluster.host_memory:
            return sum(self.by_kind(vp).values())
        return self.always + self.activations(vp) + self.logits + self.buffers + self.job.cluster.gpu.runtime

    def activations(self, vp: int) -> float:
        """Of the micro-batches in flight on the first stage."""
        model, plan, tokens = self.job.model, self.plan, self.tokens
        in_flight: float = min(plan.pp, micro_batches(self.job, plan)) if plan.pp > 1 else 1.0
        if vp > 1:
            in_flight = plan.pp + (plan.pp - 1) / vp
        held = in_flight * model.all_layers / plan.pp * self.layer * tokens
        if plan.recompute != "none":  # the layer whose backward pass runs is there, whole
            held += tokens * self.at_work
        return held + in_flight * 2 * model.hidden * tokens / self.split  # the embedding's result


def of_any_chunks(job: Job, plan: Plan, stack: Stack) -> Needs:
    """What ``plan`` needs, and those that differ from it in vp only."""
    m = job.model
    states, always, buffers = _lasting(m, stack, plan.tp, plan.pp, plan.ep, plan.dp * plan.cp, plan.zero)
    split = plan.tp if plan.sequence_parallel else 1
    layer, at_work = _passing(m, stack, job.precision != "bf16", plan.tp, split, plan.recompute)
    tokens = plan.micro_batch * m.seq / plan.cp
    logits = stack.logit_bytes * tokens * m.vocab / plan.tp
    return Needs(job, plan, states, always, tokens, layer, at_work, split, logits, buffers, stack)


@lru_cache(maxsize=20_000)
def _lasting(
    m: Model, stack: Stack, tp: int, pp: int, ep: int, copies: int, zero: int
) -> tuple[dict[str, float], float, float]:
    """Bytes of the model's states, their sum, and bytes of buffers."""
    dense, experts = _parameters(m, tp, pp, ep)
    states = model_states(dense, experts, copies, max(1, copies * tp // ep), zero, stack)
    return states, sum(states.values()), _buffers(m, pp, zero, stack, dense, experts)


@lru_cache(maxsize=20_000)
def _passing(m: Model, stack: Stack, low: bool, tp: int, split: int, recompute: str) -> tuple[float, float]:
    """Bytes of activations for each token: what a layer keeps, and what the one at work has."""
    moe = m.moe_layers / m.all_layers
    flash, sparse = stack.flash, stack.recomputed_matmul > 0
    layer = moe * layer_bytes(m, tp, split, recompute, flash, True, m.seq, low, sparse)
    layer += (1 - moe) * layer_bytes(m, tp, split, recompute, flash, False, m.seq, low, sparse) if moe < 1 else 0
    return layer, layer_bytes(m, tp, split, "none", flash, bool(moe), m.seq, low, sparse)


def model_states(
    dense: float, experts: float, copies: int, expert_copies: int, zero: int, stack: Stack
) -> dict[str, float]:
    """Bytes of weights, gradients and optimizer, of so many parameters that have so many copies."""

    def shared(each: float, stage: int) -> float:
        if zero < stage:
            return each * (dense + experts)
        return each * (dense / copies + experts / expert_copies)

    masters = stack.sharded_weights and zero == 3  # the shards of the weights are the master weights
    return {
        "weights": shared(4 if masters else 2, 3),
        "gradients": shared(4 if masters else stack.gradient_bytes, 2),
        "optimizer": shared(2 * stack.moment_bytes + (0 if masters else 4), 1),
    }


def _offloaded(job: Job, plan: Plan, found: dict[str, float]) -> float:
    """Bytes of activations that go to the host's memory, where it has a fast link: what does not fit, up to a share,
    since the layers whose backward pass comes first stay. Not in a pipeline, as in Megatron-LM."""
    if not job.cluster.host_memory or plan.pp > 1 or plan.recompute != "none":
        return 0.0
    too_much = sum(found.values()) - job.cluster.gpu.memory * (1 - 1e-6)
    return min(max(0.0, too_much), MOST_OFFLOADED * found["activations"], job.cluster.host_memory)


def stays_gathered(pp: int, zero: int, stack: Stack) -> bool:
    """FSDP2 in a pipeline gathers a stage's weights once a step, and sums its gradients before it shards them."""
    return zero == 3 and stack.sharded_weights and pp > 1


def _buffers(model: Model, pp: int, zero: int, stack: Stack, dense: float, experts: float) -> float:
    """With ZeRO-3 two layers' weights are gathered at a time, and one layer's gradients are whole."""
    if zero < 3:
        return 0.0
    if stays_gathered(pp, zero, stack):
        return (2 + 4) * (dense + experts)
    layers = max(1.0, model.all_layers / pp)
    return (2 * 2 + 4) * (dense + experts) / layers


@lru_cache(maxsize=20_000)
def layer_bytes(
    model: Model, tp: int, split: int, recompute: str, flash: bool, moe: bool, seq: int, low: bool, sparse: bool
) -> float:
    """Bytes of activations that a layer keeps for each token. ``split``: what the sequence is divided by, outside of
    attention and MLP. ``low``: what matrix products take is kept in 8 bits. ``sparse``: "selective" keeps every second
    product's result, and recomputes the rest (torchtitan)."""
    each = 1 if low else 2
    m, h = model, model.hidden
    if recompute == "full":
        return 2 * h / split
    masks = 2 * h if m.learned_positions else 0  # dropout's, of a byte
    norms = 4 * h / split  # their inputs
    into = 2 * each * h / split  # what the first matrices of attention and MLP take
    if m.latent:
        c = m.latent
        inner = 2 * m.heads * (2 * (c.plain + c.rotated) + 2 * c.value) / tp + 2 * (c.query + c.key_value)
    else:
        inner = 2 * (2 * m.heads + 2 * m.kv_heads) * m.head_dim / tp
    scores = 0.0 if recompute == "selective" and not flash else 4 * m.heads / tp if flash else 5 * m.heads * seq / tp
    up = 2 if m.gated else 1
    if moe:
        width = (2 * up + each) * m.expert_ffn / tp
        mlp = m.top_k * (each * h / tp + width) + m.shared_experts * width
        result = m.top_k * each * m.expert_ffn / tp
    else:
        mlp, result = (2 * up + each) * m.ffn / tp, each * m.ffn / tp
    total = norms + into + masks / split + inner + scores + mlp
    if recompute == "selective" and flash and sparse and not moe and not m.latent:
        return 2 * (4 * h / split + (m.kv_heads * m.head_dim + m.ffn) / tp) + scores
    if recompute == "selective" and flash:
        total -= into + result
        if m.latent:  # queries, keys and values are made again from their latents
            total -= 2 * m.heads * (2 * (m.latent.plain + m.latent.rotated) + m.latent.value) / tp
    return total
