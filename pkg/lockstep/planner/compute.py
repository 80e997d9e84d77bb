"""Seconds of compute of one layer, by counting its kernels: matrix products, attention, and passes over memory.

A *matrix product* of m x k by k x n is cut into tiles, one a multiprocessor at a time. Its rate is the best that was
seen on the GPU (MAMF) times what a training step reaches; a last wave of tiles that is not full, and the start and end
of each wave, come off: so a narrow shard of a layer is slower for each FLOP. It takes at least its bytes by the
memory's bandwidth.

*Attention* without flash writes and reads its scores, 13 bytes for each pair of positions forward (written, softmax,
dropout, read), 19 backward; with flash it computes only below the diagonal, beside which half of softmax's
exponentials are hidden.

*Pointwise* operations (norms, residuals, activation, rotation, casts to 8 bits) take their bytes by the bandwidth.

Letters as in ``models``; T tokens of a micro-batch on this GPU, t = tp, r = t where the sequence is divided, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from lockstep.planner.clusters import Gpu
from lockstep.planner.hashed_once import hashed_once
from lockstep.planner.models import Model
from lockstep.planner.stacks import CAST_BYTES, MATMUL_OF, Stack

TILES = ((256, 128, 1.0), (128, 128, 0.93), (128, 64, 0.82), (64, 64, 0.65))  # rows, columns, rate beside the best
WAVE = 2e-6  # seconds of filling and draining the pipeline of a tile; estimate, a few memory latencies
FULL_WAVES = 0.5  # of a last wave's idle time, how much schedulers (stream-K, split-K) win back; estimate
SCORES = (13.0, 19.0)  # bytes for each pair of positions without flash: forward, backward
NORM = 4.0  # bytes that a norm moves for each number, in one kernel
UNFUSED_NORM = 28.0  # in many: to float32, square, mean, scale, back to 16 bits, weight
# Numbers of an expert's width that move forward for each token where the biases, clamps, sigmoid, products and router's
# weights of GPT-OSS are kernels of their own; counted in the operations of Megatron-LM's experts.
CLAMPED = 34.0
EXPOSED = 0.5  # share of softmax's exponentials that do not run beside matrix products; estimate
# FlashAttention-2 uses 35 % of an H100 (arXiv:2407.08608, abstract), and 82 % of what an A100 reaches
AMPERE_ON_HOPPER = 0.35 / 0.803 / 0.82
BATCHED = 0.6  # share of the matrix rate of attention's products without flash, whose inner width is a head's


@dataclass(frozen=True)
class Seconds:
    """Of one micro-batch: forward, backward, and what recomputation repeats (attention's core; pointwise work)."""

    forward: float = 0.0
    backward: float = 0.0
    core: float = 0.0  # of ``forward``: attention between its projections
    pointwise: float = 0.0  # of ``forward``: norms and activation, and making keys and values from latents
    matmul: float = 0.0  # of ``forward`` and ``backward``: matrix products

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(
            self.forward + other.forward, self.backward + other.backward, self.core + other.core,
            self.pointwise + other.pointwise, self.matmul + other.matmul,
        )  # fmt: skip


@hashed_once
@dataclass(frozen=True)
class Machine:
    """A GPU under a stack, in a precision."""

    gpu: Gpu
    stack: Stack
    precision: str

    @property
    def rate(self) -> float:
        """FLOP/s of a large matrix product in bfloat16."""
        return self.gpu.bf16 * self.gpu.matmul * self.gpu.sustained

    @property
    def low_rate(self) -> float:
        """The same in this precision."""
        return self.gpu.peak(self.precision) * self.gpu.matmul * self.gpu.sustained * MATMUL_OF[self.precision]

    @property
    def bandwidth(self) -> float:
        return self.gpu.memory_bandwidth * self.stack.memory


def matmul(on: Machine, m: float, n: float, k: float, number: float = 1, low: bool = True, out: float = 2.0) -> float:
    """Seconds of ``number`` products at once; ``low``: in the precision of the plan, else in bfloat16. ``out``: bytes
    that move for each number of the result."""
    if min(m, n, k, number) <= 0:
        return 0.0
    rate = on.low_rate if low else on.rate
    size = 1.0 if low and on.precision != "bf16" else 2.0
    nbytes = number * (size * (m * k + n * k) + out * m * n)
    best = min(_tiled(on, rate, m, n, k, number, tile) for tile in TILES)
    return max(best, nbytes / on.bandwidth) + on.stack.gap


def _tiled(
    on: Machine, rate: float, m: float, n: float, k: float, number: float, tile: tuple[int, int, float]
) -> float:
    rows, columns, speed = tile
    tiles = ceil(m / rows) * ceil(n / columns) * number
    waves = tiles / on.gpu.multiprocessors
    waves = ceil(waves) - FULL_WAVES * (ceil(waves) - max(waves, 1)) if waves > 1 else 1
    one = 2 * rows * columns * k * on.gpu.multiprocessors / (rate * speed)
    return waves * (one + WAVE)


def products(
    on: Machine, T: float, shapes: Sequence[tuple[float, float]], number: float = 1, low: bool = True
) -> tuple[float, float]:
    """Seconds forward and backward of T rows by matrices of ``shapes``, (columns, inner width): backward there are the
    inputs' gradients and the weights', which are added to those of earlier micro-batches, read and written: by the
    product itself, or by a pass of its own."""
    twice = 2.0 * on.stack.gradient_bytes
    inside = on.stack.gradients_fused
    ahead = sum(matmul(on, T, n, k, number, low) for n, k in shapes)
    back = sum(
        matmul(on, T, k, n, number, low) + matmul(on, n, k, T, number, low, twice if inside else 2.0) for n, k in shapes
    )
    if not inside:
        back += passes(on, (twice + 2) * number * sum(n * k for n, k in shapes), len(shapes))
    return ahead, back


def passes(on: Machine, nbytes: float, kernels: float = 1) -> float:
    """Seconds of pointwise kernels that move so many bytes."""
    return nbytes / on.bandwidth + kernels * on.stack.gap


@lru_cache(maxsize=20_000)
def attention(on: Machine, model: Model, micro: int, tp: int, cp: int, r: int) -> Seconds:
    """A layer's attention with its norm, its residual and its projections, of ``micro`` sequences."""
    T, h, d = micro * model.seq / cp, model.hidden, model.head_dim
    a, g = model.heads / tp, max(model.kv_heads / tp, 1)
    shapes = _projections(model, tp)
    ahead, back = products(on, T, shapes)
    core, core_back = _core(on, model, micro, a, cp)
    norm = (NORM if on.stack.fused else UNFUSED_NORM) * h / r
    add = 6 * h / r
    turned = 0 if model.learned_positions else (4 if on.stack.fused else 20) * (a + g) * d
    moved = T * (norm + add + turned)
    cast = CAST_BYTES[on.precision] * T * (h + a * d)
    light = passes(on, moved + cast, 4 if on.stack.fused else 12)
    light_back = passes(on, 1.5 * moved + 2 * cast, 5 if on.stack.fused else 16)
    again = passes(on, T * norm) + (sum(matmul(on, T, n, k) for n, k in shapes[1:3]) if model.latent else 0)
    return Seconds(ahead + core + light, back + core_back + light_back, core, again, ahead + back)


def _projections(model: Model, tp: int) -> list[tuple[float, float]]:
    """(columns, inner width) of the products of T tokens."""
    h, a, g, d = model.hidden, model.heads / tp, max(model.kv_heads / tp, 1), model.head_dim
    if m := model.latent:
        return [
            (m.query + m.key_value + m.rotated, h),
            (a * (m.plain + m.rotated), m.query),
            (a * (m.plain + m.value), m.key_value),
            (h, a * m.value),
        ]
    return [((a + 2 * g) * d, h), (h, a * d)]


def _core(on: Machine, model: Model, micro: int, a: float, cp: int) -> tuple[float, float]:
    """Scores, softmax and values: forward, backward. A window halves the pairs that half of the layers see."""
    s = model.seq
    pairs = micro * s * s / cp * a
    wide = model.latent.plain + model.latent.rotated + model.latent.value if model.latent else 2 * model.head_dim
    if on.stack.flash:
        seen = pairs / 2
        if model.window:
            seen = (pairs / 2 + micro * s / cp * a * min(model.window, s)) / 2
        flops, exponentials = 2 * seen * wide, seen / on.gpu.exponentials
        rate = on.rate * (AMPERE_ON_HOPPER if on.stack.ampere_attention and on.gpu.fp8 else 1.0)
        rate *= 2 if on.stack.low_attention and on.gpu.exponentials > 1e13 and on.precision == "mxfp8" else 1
        ahead = flops / (rate * on.stack.attention) + EXPOSED * exponentials
        back = 2.5 * flops / (rate * on.stack.attention_back) + EXPOSED * exponentials
        return ahead + on.stack.gap, back + 3 * on.stack.gap
    flops = 2 * pairs * wide
    ahead = flops / (on.rate * BATCHED) + passes(on, SCORES[0] * pairs, 6)
    back = 2 * flops / (on.rate * BATCHED) + passes(on, SCORES[1] * pairs, 10)
    return ahead, back


@lru_cache(maxsize=20_000)
def dense_mlp(on: Machine, model: Model, micro: int, tp: int, cp: int, r: int) -> Seconds:
    """A layer's MLP with its norm and residual."""
    T, h, f = micro * model.seq / cp, model.hidden, model.ffn / tp
    up = 2 if model.gated else 1
    shapes = [(up * f, h), (h, f)]
    ahead, back = products(on, T, shapes)
    norm = (NORM if on.stack.fused else UNFUSED_NORM) * h / r
    active = 2 * (up + 1) * f if on.stack.fused else 2 * (up + 3) * f
    moved = T * (norm + 6 * h / r + active)
    cast = CAST_BYTES[on.precision] * T * (h + f)
    light = passes(on, moved + cast, 4 if on.stack.fused else 12)
    light_back = passes(on, 1.6 * moved + CAST_BYTES[on.precision] * T * (h + up * f + f), 5)
    return Seconds(ahead + light, back + light_back, 0.0, passes(on, T * (norm + active)), ahead + back)


@lru_cache(maxsize=20_000)
def expert_mlp(on: Machine, model: Model, micro: int, tp: int, cp: int, ep: int, r: int) -> Seconds:
    """A layer's router and experts, with its norm and residual; tokens are balanced. Experts are whole on a GPU, each
    with the tokens that the ``ep`` GPUs of its group send it."""
    T, h, f = micro * model.seq / cp / tp, model.hidden, model.expert_ffn
    up = 2 if model.gated else 1
    local = model.experts / ep
    rows = T * model.top_k
    shapes = [(up * f, h), (h, f)]
    ahead, back = (t / on.stack.expert_matmul for t in products(on, rows / local, shapes, local))
    router = matmul(on, T * tp / r, model.experts, h, low=False)
    norm = T * tp * 10 * h / r
    on_the_way = rows * 2 * h * on.stack.expert_passes
    active = rows * 2 * f * (CLAMPED if model.clamped and not on.stack.clamped_fused else up + 1)
    cast = CAST_BYTES[on.precision] * rows * (h + f)
    light = passes(on, norm + on_the_way + active + cast, 20)
    light_back = passes(on, 1.5 * norm + on_the_way + 1.6 * active + 2 * cast, 30)
    routed = Seconds(
        ahead + router + light, back + 2 * router + light_back, 0.0, passes(on, norm + active), ahead + back
    )
    return routed + _shared(on, model, micro, tp, cp) if model.shared_experts else routed


@lru_cache(maxsize=20_000)
def dispatch_casts(on: Machine, model: Model, micro: int, tp: int, cp: int) -> Seconds:
    """FP8 dispatch where products are in bfloat16: tokens are brought into 8 bits before they leave, and back into 16
    where they arrive; backward their gradients. In 8 bits the products need the same cast, which is counted there."""
    if on.precision != "bf16":
        return Seconds()
    T, h = micro * model.seq / cp / tp, model.hidden
    rows = T * model.top_k
    return Seconds(passes(on, 3 * h * (T + rows), 2), passes(on, 3 * h * 2 * rows, 2))


def _shared(on: Machine, model: Model, micro: int, tp: int, cp: int) -> Seconds:
    T, h, f = micro * model.seq / cp, model.hidden, model.shared_experts * model.expert_ffn / tp
    up = 2 if model.gated else 1
    shapes = [(up * f, h), (h, f)]
    ahead, back = products(on, T, shapes)
    light = passes(on, T * (2 * (up + 1) * f + 2 * h) + CAST_BYTES[on.precision] * T * (h + f), 4)
    return Seconds(ahead + light, back + 1.6 * light, 0.0, light, ahead + back)


@lru_cache(maxsize=20_000)
def output(on: Machine, model: Model, micro: int, tp: int, cp: int) -> Seconds:
    """The last norm, the logits of all words, and the loss in float32. Matrix products in bfloat16."""
    T, h, V = micro * model.seq / cp, model.hidden, model.vocab / tp
    ahead, back = products(on, T, [(V, h)], low=False)
    loss = passes(on, T * V * (12 if on.stack.fused else 26), 8)
    return Seconds(ahead + loss, back + loss, 0.0, 0.0, ahead + back)


def optimizer(on: Machine, parameters: float, gradient_bytes: int) -> float:
    """Adam on so many parameters: gradient, master weight and two moments in float32 are read, three of them written,
    the weight is written in 16 bits; and the gradients are read once more for their norm."""
    return passes(on, parameters * (2 * gradient_bytes + 24 + 2), 30)
