"""One operation on a device: its floating-point operations, and its time by the roofline model.

``FORMULAS`` is one table, from the name of an operation of torch to a formula. A multiplication and an addition count
as two. An operation that is not in the table moves bytes and computes next to nothing (additions, activations, norms,
softmax, sorting, optimizers): the roofline of its bytes is its time. A complex number takes four times the operations
of a real one (``COMPLEX``).

A formula is called with the operation's own ``(arguments, result)``, and looks at shapes only. The letters:

    B  batch      m, n, k  rows, columns, the dimension summed over      S, T  positions of queries and of keys
    H  heads      D        width of a head                               prod  of a shape: its number of elements

Sources.
  roofline                Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
                          Architectures", CACM 2009
  products, convolutions  ``torch.utils.flop_counter``, whose counts these are. (But torch ignores the groups of a
                          convolution in its backward pass; here each gradient costs what the forward pass does.)
  attention               Dao, "FlashAttention-2", arXiv:2307.08691, section 4.1: 4·S·T·D for each head, forward, and
                          2.5 times that backward: five products instead of two, because the scores are recomputed.
                          ``torch.utils.flop_counter`` counts the same. A causal mask does *not* halve it: not there,
                          nor here, nor in the path without a fused kernel, which computes all scores. (The paper halves
                          it, and a fused kernel skips nearly half of the blocks.)
  linear algebra          Golub, Van Loan, "Matrix Computations", 4th edition, and LAPACK Working Note 41, appendix C:
                          the leading terms for a real matrix. Iterative ones (svd, eigenvalues) are their estimates.
  Fourier transforms      5·N·log2(N), and half of it if one side is real: the convention of Frigo, Johnson,
                          "The design and implementation of FFTW3", Proc. IEEE 2005
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2, prod
from types import MappingProxyType
from typing import Any

from lockstep.machines import Device

# ---- the roofline


def op_time(device: Device, flops: float, nbytes: float, dtype: str = "float32") -> float:
    """Seconds of an operation of ``flops`` floating-point operations that moves ``nbytes`` to and from memory.

    The device computes while it loads and stores, so the slower of the two decides; the launch comes on top:

        max(flops / peak, nbytes / bandwidth) + launch overhead
    """
    return max(flops / device.peak(dtype), nbytes / device.memory_bandwidth) + device.launch_overhead


def ridge_point(device: Device, dtype: str = "float32") -> float:
    """The FLOP per byte above which ``device`` is limited by its peak, and below it by its memory bandwidth."""
    return device.peak(dtype) / device.memory_bandwidth


Formula = Callable[[Sequence[Any], Any], float]
COMPLEX = 4  # (a + bi)(c + di): four multiplications and four additions, for one of each


def shape(tensor: Any) -> list[int]:
    return [int(n) for n in tensor.shape]


def first(result: Any) -> Any:
    return result[0] if isinstance(result, list | tuple) else result


# ---- products


def product(at: int = 0) -> Formula:
    """(…, m, k) times (…, k, n) or (k), 2·m·k·n for each of the batch. ``at``: the index of the first operand."""

    def flops(args: Sequence[Any], result: Any) -> float:
        a, b = shape(args[at]), shape(args[at + 1])
        return 2 * prod(a) * (b[-1] if len(b) > 1 else 1)

    return flops


def outer(args: Sequence[Any], result: Any) -> float:
    """The outer product of two vectors, added to a matrix."""
    return 2 * prod(shape(first(result)))


def linear(args: Sequence[Any], result: Any) -> float:
    """Each row of the input times each column of the weights, in whatever format these are packed."""
    return 2 * prod(shape(args[0])) * shape(first(result))[-1]


def grouped(args: Sequence[Any], result: Any) -> float:
    """Several products, whose rows, columns or summed dimensions are concatenated in one matrix. If these are the
    columns, each matrix of the first operand is multiplied by its own columns only."""
    a, b = shape(args[0]), shape(args[1])
    columns_cut = len(a) == 3 and len(b) == 2
    return 2 * prod(a[1:] if columns_cut else a) * b[-1]


def trilinear(args: Sequence[Any], result: Any) -> float:
    """Three operands, each broadcast along the dimensions that it lacks, multiplied and summed (``nn.Bilinear``)."""
    sizes = [1] * (len(shape(args[0])) + len(args[3]))
    for factor, lacking in zip(args[:3], args[3:6], strict=True):
        own = iter(shape(factor))
        for dim in range(len(sizes)):
            if dim not in lacking:
                sizes[dim] = max(sizes[dim], next(own))
    return 3 * prod(sizes)


def distances(args: Sequence[Any], result: Any) -> float:
    """Between all rows of one matrix and all of another: subtract, raise to a power, add."""
    return 3 * prod(shape(args[0])) * shape(args[1])[-2]


def distances_backward(args: Sequence[Any], result: Any) -> float:
    return 2 * distances(args[1:], result)


# ---- convolutions


def convolved(x: Sequence[int], weight: Sequence[int], out: Sequence[int], transposed: bool) -> int:
    """FLOP of a convolution. ``weight``: (outputs, inputs / groups, *kernel), or (inputs, outputs / groups, *kernel) if
    transposed. It is applied at every position of the output, or of the input if transposed."""
    return 2 * x[0] * prod((x if transposed else out)[2:]) * prod(weight)


def convolution(args: Sequence[Any], result: Any) -> float:
    return convolved(shape(args[0]), shape(args[1]), shape(first(result)), transposed=args[6])


def convolution_backward(args: Sequence[Any], result: Any) -> float:
    """The gradient of the input and that of the weights, where the output mask has them."""
    gradient, x, weight = (shape(a) for a in args[:3])
    transposed, wanted = args[7], args[10]
    return (bool(wanted[0]) + bool(wanted[1])) * convolved(x, weight, gradient, transposed)


# ---- attention


def attended(query: Sequence[int], key: Sequence[int], value: Sequence[int], scores: int, values: int) -> int:
    """(B, H, S, D), (B, H', T, D), (B, H', T, D'): ``scores`` products over D and ``values`` over D'. Each head of the
    queries counts, also where several share the keys of one (grouped queries)."""
    return 2 * prod(query[:-1]) * key[-2] * (scores * query[-1] + values * value[-1])


def attention(args: Sequence[Any], result: Any) -> float:
    """The scores, and the weighted sum of the values."""
    query, key, value = (shape(a) for a in args[:3])
    return attended(query, key, value, 1, 1)


def attention_backward(args: Sequence[Any], result: Any) -> float:
    """The scores recomputed, the gradients of the queries and of the keys; those of the scores and of the values."""
    query, key, value = (shape(a) for a in args[1:4])
    return attended(query, key, value, 3, 2)


def attention_with_projections(weights: Sequence[int], width: int) -> Formula:
    """A layer in one kernel. ``weights``, ``width``: the indices of its matrices and of its embedding width."""

    def flops(args: Sequence[Any], result: Any) -> float:
        batch, tokens, _ = shape(args[0])
        scores = 2 * tokens * int(args[width])  # of a token: its scores and the weighted sum, for all tokens
        return 2 * batch * tokens * (sum(prod(shape(args[w])) for w in weights) + scores)

    return flops


# ---- recurrent networks


def recurrent(passes: int) -> Formula:
    """One layer in one kernel: its input, (steps, B, inputs) or (B, steps, inputs), then the weights of the input and
    of the state. ``passes``: 1 forward, 2 backward."""

    def flops(args: Sequence[Any], result: Any) -> float:
        return passes * 2 * prod(shape(args[0])[:-1]) * (prod(shape(args[1])) + prod(shape(args[2])))

    return flops


def recurrent_layers(passes: int) -> Formula:
    """All layers in one kernel, with their weights and biases in one list."""

    def flops(args: Sequence[Any], result: Any) -> float:
        matrices = sum(prod(shape(w)) for w in args[1] if len(shape(w)) == 2)
        return passes * 2 * prod(shape(args[0])[:-1]) * matrices

    return flops


# ---- linear algebra


def each(flops: Callable[[int, int], float], at: int = 0) -> Formula:
    """``flops(m, n)`` of every matrix of a batch (…, m, n)."""

    def formula(args: Sequence[Any], result: Any) -> float:
        *batch, m, n = shape(args[at])
        return prod(batch) * flops(m, n)

    return formula


def solved(factor: float, per_element: float, matrix: int = 0, right: int = 1) -> Formula:
    """``factor``·n³ to factor the matrix, ``per_element``·n for each number of the right-hand sides."""

    def formula(args: Sequence[Any], result: Any) -> float:
        *batch, n, _ = shape(args[matrix])
        return prod(batch) * factor * n**3 + per_element * n * prod(shape(args[right]))

    return formula


def lu(m: int, n: int) -> float:
    k, long = min(m, n), max(m, n)
    return k**2 * (long - k / 3)


def triangle(m: int, n: int) -> float:
    """R of a QR decomposition, by Householder reflections; as much again to form the first columns of Q."""
    k, long = min(m, n), max(m, n)
    return 2 * k**2 * (long - k / 3)


def qr(args: Sequence[Any], result: Any) -> float:
    *batch, m, n = shape(args[0])
    mode = args[1] if len(args) > 1 else "reduced"
    columns = {"r": 0.0, "reduced": triangle(m, n), "complete": 4 * (m * m * n - m * n * n + n**3 / 3)}
    return prod(batch) * (triangle(m, n) + columns[mode])


def svd(args: Sequence[Any], result: Any) -> float:
    """By Golub and Reinsch: singular values only, or with the singular vectors."""
    *batch, m, n = shape(args[0])
    k, long = min(m, n), max(m, n)
    vectors = args[2] if len(args) > 2 else True
    return prod(batch) * (14 * long * k**2 + 8 * k**3 if vectors else 4 * long * k**2 - 4 * k**3 / 3)


def symmetric_eigenvalues(args: Sequence[Any], result: Any) -> float:
    *batch, _, n = shape(args[0])
    vectors = args[2] if len(args) > 2 else True
    return prod(batch) * (9 if vectors else 4 / 3) * n**3


# ---- Fourier transforms


def fourier(per_number: float, ends: bool = False) -> Formula:
    """``per_number``·N·log2(N), in operations on numbers of the argument's kind. ``ends``: whether N are the numbers of
    the result instead of the argument's."""

    def flops(args: Sequence[Any], result: Any) -> float:
        sizes = shape(first(result) if ends else args[0])
        together = prod(sizes[dim] for dim in args[1])
        return per_number * prod(sizes) * log2(max(together, 1))

    return flops


FUSED_ATTENTION = tuple(
    f"_scaled_dot_product_{kernel}"
    for kernel in (
        "flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention",
        "fused_attention_overrideable",
    )
)  # fmt: skip

FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "_int_mm", "_scaled_mm", "_scaled_mm_v2"), product()),
        **dict.fromkeys(("addmm", "addmv", "baddbmm", "addbmm", "_addmm_activation", "_sparse_addmm"), product(at=1)),
        **dict.fromkeys(("_weight_int8pack_mm", "_weight_int4pack_mm_for_cpu"), linear),
        **dict.fromkeys(("_grouped_mm", "_scaled_grouped_mm"), grouped),
        "addr": outer,
        "_trilinear": trilinear,
        "_cdist_forward": distances,
        "_cdist_backward": distances_backward,
        "_pdist_forward": lambda args, result: 3 * prod(shape(first(result))) * shape(args[0])[-1],
        **dict.fromkeys(("convolution", "_convolution"), convolution),
        "convolution_backward": convolution_backward,
        **dict.fromkeys(FUSED_ATTENTION, attention),
        **{f"{name}_backward": attention_backward for name in FUSED_ATTENTION},
        "_native_multi_head_attention": attention_with_projections(weights=(5, 7), width=3),
        "_transformer_encoder_layer_fwd": attention_with_projections(weights=(3, 5, 14, 16), width=1),
        "mkldnn_rnn_layer": recurrent(1),
        "mkldnn_rnn_layer_backward": recurrent(2),
        "_cudnn_rnn": recurrent_layers(1),
        "_cudnn_rnn_backward": recurrent_layers(2),
        "linalg_cholesky_ex": each(lambda m, n: n**3 / 3),
        "cholesky_solve": solved(0, 2, matrix=1, right=0),
        "cholesky_inverse": each(lambda m, n: 2 * n**3 / 3),
        **dict.fromkeys(("linalg_lu_factor_ex", "linalg_lu", "_linalg_det", "_linalg_slogdet"), each(lu)),
        "linalg_inv_ex": each(lambda m, n: 2 * n**3),
        "_linalg_solve_ex": solved(2 / 3, 2),
        "linalg_lu_solve": solved(0, 2, right=2),
        "linalg_ldl_factor_ex": each(lambda m, n: n**3 / 3),
        "linalg_ldl_solve": solved(0, 2, right=2),
        "linalg_solve_triangular": solved(0, 1),
        "triangular_solve": solved(0, 1, matrix=1, right=0),
        "linalg_lstsq": each(triangle),
        "geqrf": each(triangle),
        "linalg_householder_product": each(triangle),
        "ormqr": lambda args, result: 4 * prod(shape(args[2])) * shape(args[1])[-1],
        "linalg_qr": qr,
        "_linalg_svd": svd,
        "linalg_pinv": lambda args, result: svd(args[:1], result) + 2 * prod(shape(args[0])) * min(shape(args[0])[-2:]),
        "_linalg_eigh": symmetric_eigenvalues,
        "linalg_eig": each(lambda m, n: 25 * n**3),
        "_linalg_eigvals": each(lambda m, n: 10 * n**3),
        "linalg_matrix_exp": each(lambda m, n: 5 * 2 * n**3),  # five products; how many squarings, the data say
        "_fft_c2c": fourier(5 / COMPLEX),
        "_fft_r2c": fourier(2.5),
        "_fft_c2r": fourier(2.5 / COMPLEX, ends=True),
    }
)
