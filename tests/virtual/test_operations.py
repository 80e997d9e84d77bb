"""What torch's operations cost on the virtual cluster: none is forgotten.

Fused attention had no FLOPs at all on the CPU, nor had a product of a matrix and a vector, an LSTM, or linear algebra.
"""

from __future__ import annotations

import warnings
from collections import Counter

import pytest
import torch
from programs_of_torch import PROGRAMS, attention, layers, products
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode, register_flop_formula

from lockstep import run
from lockstep.cost.operations import op_time
from lockstep.machines import Device, find
from lockstep.residency import Residency
from lockstep.virtual.clock import Clock
from lockstep.virtual.fake_simulation import FakeClock
from lockstep.virtual.in_flight import Flights

A100 = find("dgx-a100").device
BYTES = Device("a second for a byte, and no more", {"float32": 1e300}, 1.0, 10**9, 0.0)

# What moves bytes and computes next to nothing: a few operations for each number that is read or written.
WITHOUT_FLOPS = frozenset(
    """
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward
    _ctc_loss _ctc_loss_backward _embedding_bag _embedding_bag_backward _foreach_abs _foreach_add _foreach_add_
    _foreach_addcdiv_ _foreach_addcmul_ _foreach_div_ _foreach_lerp_ _foreach_maximum_ _foreach_mul_
    _foreach_norm _foreach_sqrt _foreach_sqrt_ _fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_sgd_
    _linalg_check_errors _log_softmax _log_softmax_backward_data _safe_softmax _softmax _softmax_backward_data
    _to_copy _unique2 abs add add_ addcdiv_ addcmul_ amax arange avg_pool2d avg_pool2d_backward avg_pool3d
    avg_pool3d_backward bernoulli_ binary_cross_entropy_with_logits bincount cat clamp clamp_min clone col2im
    constant_pad_nd copy_ cumsum div div_ elu elu_backward embedding embedding_dense_backward exp eye fill_ flip
    full full_like gather gelu gelu_backward glu glu_backward grid_sampler_2d gt histc im2col index index_add
    index_put_ index_select kthvalue lerp_ linalg_cross linalg_vector_norm linspace logsumexp masked_fill
    max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d_with_indices
    max_pool3d_with_indices_backward maximum mean median mode mse_loss mse_loss_backward mul mul_ multinomial
    native_batch_norm native_batch_norm_backward native_group_norm native_group_norm_backward native_layer_norm
    native_layer_norm_backward neg nll_loss_backward nll_loss_forward nonzero normal_ ones ones_like pow prod
    rand randn randperm reciprocal reflection_pad1d relu repeat roll rsqrt scalar_tensor scatter scatter_add
    scatter_reduce searchsorted select_backward sgn sigmoid sigmoid_ sigmoid_backward sign silu silu_backward
    sin smooth_l1_loss smooth_l1_loss_backward sort sqrt sqrt_ stack sub sub_ sum take tanh tanh_ tanh_backward
    threshold_backward topk tril triu uniform_ upsample_bicubic2d upsample_bicubic2d_backward
    upsample_bilinear2d upsample_bilinear2d_backward upsample_nearest2d upsample_nearest2d_backward var where
    xlogy zeros zeros_like
    """.split()  # noqa: SIM905
)


class Costs:
    """What the Clock charges: (operation, FLOPs, seconds), one after the other."""

    def __init__(self, kind=Clock, device=A100):
        self.seen = []
        self.clock = kind(
            device, Residency(), lambda n, s, f: self.seen.append((n, f, s)), lambda: None, Flights(lambda _: None)
        )

    def of(self, program):
        self.seen.clear()
        with warnings.catch_warnings(), self.clock:
            warnings.simplefilter("ignore")
            program()
        return list(self.seen)


def flops(program, kind=Clock):
    """FLOPs by operation, those that have some."""
    return dict(sum((Counter({n: f}) for n, f, _ in Costs(kind).of(program) if f), Counter()))


# ---- none is forgotten


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_torch_computes_with_has_a_cost(name):
    """An operation that neither has a formula nor is known to move bytes only is told here. Give it a formula in
    cost/operations.py, with its source, or add it to the list above."""
    costs = Costs().of(PROGRAMS[name])
    assert costs
    assert {n for n, f, _ in costs if not f} <= WITHOUT_FLOPS
    assert all(s > A100.launch_overhead for _, _, s in costs)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [layers, attention, products])
def test_without_data_it_computes_as_much(make):
    """Formulas look at shapes only."""

    def program():
        for short in make().values():
            short()

    assert flops(program, FakeClock) == flops(program)


# ---- attention: B, H, S, T, D

B, H, S, T, D = 2, 4, 32, 48, 16
FORWARD = 4 * B * H * S * T * D


def heads(device="cpu", keys=H, dtype=torch.float32):
    return [
        torch.randn(B, h, n, D, device=device, dtype=dtype, requires_grad=True)
        for h, n in ((H, S), (keys, T), (keys, T))
    ]


def attend(q, k, v, **options):
    F.scaled_dot_product_attention(q, k, v, **options).sum().backward()


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"attn_mask": torch.ones(S, T)}, {"enable_gqa": True}, {"scale": 0.5}],
    ids=str,
)
def test_fused_attention_counts_two_products_and_five_backward(options):
    """4·B·H·S·T·D, and 2.5 times that. A mask halves nothing, whatever it masks. With grouped queries each head of the
    queries counts. It was 0."""
    found = flops(lambda: attend(*heads(keys=2 if "enable_gqa" in options else H), **options))
    name = "_scaled_dot_product_flash_attention_for_cpu"
    assert found == {name: FORWARD, f"{name}_backward": 2.5 * FORWARD}


def test_attention_without_a_fused_kernel_counts_its_products():
    """Two, and four backward: it has kept the scores, and need not compute them again."""

    def plain(q, k, v):
        with sdpa_kernel(SDPBackend.MATH):
            attend(q, k, v)

    assert flops(lambda: plain(*heads())) == {"bmm": FORWARD + 2 * FORWARD}
    assert flops(lambda: attend(*heads(), dropout_p=0.1)) == {"bmm": FORWARD + 2 * FORWARD}  # no fused kernel on a CPU


@pytest.mark.parametrize("kernel", ["flash", "efficient", "cudnn"])
def test_the_kernels_of_gpus_count_the_same(kernel):
    """By torch's own counter, too. (Here they only tell shapes.)"""
    forward = getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention")
    backward = getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention_backward")

    def program():
        q, k, v = (torch.empty(B, H, n, D, dtype=torch.bfloat16) for n in (S, T, T))
        if kernel == "flash":
            out, lse, *ends, seed, offset, _ = forward(q, k, v)
            backward(out, q, k, v, out, lse, *ends, 0.0, False, seed, offset)
        elif kernel == "efficient":
            out, lse, seed, offset = forward(q, k, v, None, True)
            backward(out, q, k, v, torch.empty(0), out, lse, seed, offset, 0.0, [True] * 3 + [False])
        else:
            out, lse, *ends, seed, offset, _ = forward(q, k, v, None, True)
            backward(out, q, k, v, out, lse, seed, offset, torch.empty(0), *ends, 0.0, False)

    found = flops(program, FakeClock)
    assert sorted(found.values()) == [FORWARD, 2.5 * FORWARD]
    with (
        FakeClock(A100, Residency(), lambda *_: None, lambda: None, Flights(lambda _: None)),
        FlopCounterMode(display=False) as torchs,
    ):
        program()
    assert torchs.get_total_flops() == 3.5 * FORWARD


def test_a_fused_kernel_moves_no_scores():
    """It reads q, k and v, and writes its result and one number for each row: not the S x T scores, of which plain
    attention writes several copies."""

    def moved(program, name):
        return [s for n, _, s in Costs(device=BYTES).of(program) if n == name]

    rows, columns = 4 * B * H * S, 4 * B * H * T
    name = "_scaled_dot_product_flash_attention_for_cpu"
    assert moved(lambda: attend(*heads()), name) == [2 * rows * D + 2 * columns * D + rows]
    backward = (
        3 * rows * D + 2 * columns * D + rows + rows * D + 2 * columns * D
    )  # gradient, q, out, k, v; three gradients
    assert moved(lambda: attend(*heads()), f"{name}_backward") == [backward]


def test_cuda_without_data_takes_the_fused_path():
    """torch without CUDA took the path that writes the scores: 40 times as long. In a backward pass it aborted."""

    def fn(device):
        x = torch.empty(1, 16, 4096, 64, device=device, dtype=torch.bfloat16, requires_grad=True)
        attend(x, x, x, is_causal=True)

    on_gpu, here = (run(fn, device, ranks=1, on="dgx-a100", fake=True) for device in ("cuda", "cpu"))
    assert sum(e.flops for e in on_gpu.trace.events) == 3.5 * 4 * 16 * 4096**2 * 64
    assert on_gpu.trace.events == here.trace.events
    assert on_gpu.peak_memory == here.peak_memory


# ---- other formulas, against torch's counter or by hand


def counted_by_torch(program):
    with FlopCounterMode(display=False) as counter:
        program()
    return counter.get_total_flops()


@pytest.mark.parametrize("name", ["Linear", "mm", "bmm", "addmm", "baddbmm", "einsum", "MultiheadAttention", "GRU"])
def test_products_are_counted_as_torch_counts_them(name):
    """Apart from those of a vector, which torch forgets."""
    ours = {n: f for n, f in flops(PROGRAMS[name]).items() if n not in ("mv", "dot", "addmv")}
    ours.pop("_scaled_dot_product_flash_attention_for_cpu", None)
    ours.pop("_scaled_dot_product_flash_attention_for_cpu_backward", None)
    assert sum(ours.values()) == counted_by_torch(PROGRAMS[name]) > 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_convolutions(kind, dims, groups):
    """Forward as torch counts. Backward each gradient costs the same again, also with groups, which torch forgets."""
    layer, x = getattr(nn, f"{kind}{dims}d")(4, 8, 3, stride=2, groups=groups), torch.randn(2, 4, *[7] * dims)

    def step():
        layer(x.requires_grad_()).sum().backward()

    forward = sum(flops(lambda: layer(x)).values())
    assert forward == counted_by_torch(lambda: layer(x))
    assert sum(flops(step).values()) == 3 * forward
    assert counted_by_torch(step) == (3 if groups == 1 else 4) * forward


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda: torch.ones(4, 5) @ torch.ones(5), 2 * 4 * 5),
        (lambda: torch.ones(7) @ torch.ones(7), 2 * 7),
        (lambda: torch.ones(4, 5, dtype=torch.cfloat) @ torch.ones(5, 6, dtype=torch.cfloat), 8 * 4 * 5 * 6),
        (lambda: nn.Bilinear(3, 4, 5)(torch.ones(2, 3), torch.ones(2, 4)), 3 * 2 * 3 * 4 * 5),
        (lambda: torch.cdist(torch.ones(4, 3), torch.ones(5, 3), p=1.0), 3 * 4 * 5 * 3),
        (lambda: torch.linalg.cholesky(torch.eye(9)), 9**3 / 3),
        (lambda: torch.linalg.solve(torch.eye(9), torch.ones(9, 2)), 2 / 3 * 9**3 + 2 * 9**2 * 2),
        (lambda: torch.linalg.inv(torch.eye(9).expand(2, 9, 9)), 2 * 2 * 9**3),
        (lambda: torch.linalg.qr(torch.ones(9, 6)), 2 * 2 * 6**2 * (9 - 2)),
        (lambda: torch.ops.aten._linalg_svd(torch.ones(9, 6), False, False), 4 * 9 * 6**2 - 4 * 6**3 / 3),
        (lambda: torch.fft.fft(torch.ones(3, 8, dtype=torch.cfloat)), 5 * 3 * 8 * 3),
        (lambda: torch.fft.rfft(torch.ones(3, 8)), 2.5 * 3 * 8 * 3),
    ],
)
def test_formulas_by_hand(program, expected):
    assert sum(flops(program).values()) == int(expected)


def test_a_recurrent_layer_in_one_kernel_counts_its_steps():
    """Gates from the input and from the state, at each of 5 steps: as its cells count, one by one."""
    layer, x = nn.LSTM(8, 4), torch.randn(5, 2, 8)
    assert sum(flops(lambda: layer(x)).values()) == 2 * 5 * 2 * (4 * 4) * (8 + 4)
    cell = nn.LSTMCell(8, 4)
    assert sum(flops(lambda: [cell(step) for step in x]).values()) == 2 * 5 * 2 * (4 * 4) * (8 + 4)


@pytest.mark.parametrize("layer", ["MultiheadAttention", "TransformerEncoderLayer"])
def test_a_layer_in_one_kernel_counts_what_its_parts_count(layer):
    """nn.TransformerEncoderLayer, when it is only used, is one operation of torch."""
    made = nn.MultiheadAttention(8, 2, batch_first=True)
    if layer == "TransformerEncoderLayer":
        made = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x = torch.randn(2, 5, 8)
    inputs = [x] * (3 if layer == "MultiheadAttention" else 1)

    def fused():
        with torch.no_grad():
            made.eval()(*inputs)

    assert len(flops(fused)) == 1
    in_parts = flops(lambda: made.train()(*inputs))
    assert sum(flops(fused).values()) == sum(in_parts.values())


def test_inference_mode_costs_what_no_grad_costs():
    """There torch asks for a linear layer as a whole, and it had no FLOPs."""
    layer, x, q = nn.Linear(8, 4), torch.randn(2, 5, 8), torch.randn(1, 2, 4, 8)

    def used(mode):
        def program():
            with mode():
                F.conv1d(layer(x), torch.ones(1, 5, 1))
                F.scaled_dot_product_attention(q, q, q)

        return program

    assert Costs().of(used(torch.inference_mode)) == Costs().of(used(torch.no_grad))
    assert sum(flops(used(torch.no_grad)).values()) > 0


def test_an_operation_that_is_not_torchs_own_costs_what_its_formula_says():
    """Told to torch's own counter; without a formula it costs nothing."""

    @torch.library.custom_op("lockstep_test::cubed", mutates_args=())
    def cubed(x: torch.Tensor) -> torch.Tensor:
        return x @ x @ x

    x = torch.ones(9, 9)
    assert Costs().of(lambda: cubed(x)) == []

    @torch.library.custom_op("lockstep_test::squared", mutates_args=())
    def squared(x: torch.Tensor) -> torch.Tensor:
        return x @ x

    @register_flop_formula(torch.ops.lockstep_test.squared)
    def of_squared(shape, *_, **__):
        return 2 * shape[0] ** 3

    assert flops(lambda: squared(x)) == {"squared": 2 * 9**3}


# ---- bytes


def test_what_is_written_without_being_returned_is_counted():
    """``_foreach_add_`` reads and writes each of its tensors, as ``add_`` does one after the other."""
    xs = [torch.ones(8) for _ in range(3)]
    at_once = Costs(device=BYTES).of(lambda: torch._foreach_add_(xs, 1.0))
    one_by_one = Costs(device=BYTES).of(lambda: [x.add_(1.0) for x in xs])
    assert sum(s for *_, s in at_once) == sum(s for *_, s in one_by_one) == 2 * 3 * 8 * 4


def test_views_of_any_kind_cost_nothing():
    x = torch.ones(2, 3, 4)
    views = lambda: (x.view(6, 4), x[0], x.unsafe_split(1), x.detach(), x.clone().unsqueeze_(0).transpose_(0, 1))  # noqa: E731
    assert [n for n, *_ in Costs().of(views)] == ["clone"]


def test_shapes_without_memory_take_no_time():
    """On the "meta" device nothing is computed."""

    def program():
        layer = nn.Linear(1000, 1000, device="meta")
        layer(torch.empty(8, 1000, device="meta")).sum().backward()

    assert Costs().of(program) == []


def test_the_roofline_decides():
    n, f, seconds = Costs().of(lambda: torch.ones(64, 64) @ torch.ones(64, 64))[-1]
    assert (n, f) == ("mm", 2 * 64**3)
    assert seconds == op_time(A100, 2 * 64**3, 3 * 4 * 64**2)
