"""The layers as functions of whole weights, beside one rank: values, gradients, and what they send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep import run
from lockstep.events import Count
from lockstep.tensor_parallel import functional
from lockstep.tensor_parallel.attention import causal
from lockstep.tensor_parallel.f_and_g import own, regions
from lockstep.tensor_parallel.vocabulary import cross_entropy_of_columns

F64 = torch.float64


def drawn(*shapes: tuple[int, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator, dtype=F64).requires_grad_() for shape in shapes]


def mlp(x: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return F.gelu(x @ A + a) @ B + b


def attention(x: Tensor, Q: Tensor, K: Tensor, V: Tensor, W: Tensor, heads: int = 4) -> Tensor:
    d = Q.shape[1] // heads
    parts = ((x @ part).unflatten(-1, (-1, d)).transpose(1, 2) for part in (Q, K, V))
    return causal(*parts).transpose(1, 2).flatten(2) @ W


def convolutions(x: Tensor, V: Tensor, v: Tensor, W: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(F.conv2d(x, V, v, padding=1).relu(), W, w, padding=1)


def normed(x: Tensor, weight: Tensor, bias: Tensor, A: Tensor, a: Tensor, B: Tensor, b: Tensor) -> Tensor:
    return x + mlp(F.layer_norm(x, x.shape[-1:], weight, bias), A, a, B, b)


# name: the serial one, its arguments, which of them have their whole gradient on every rank, other arguments
CASES: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]], set[int], dict[str, Any]]] = {
    "parallel_mlp": (mlp, [(3, 5), (5, 7), (7,), (7, 5), (5,)], {0, 4}, {}),
    "parallel_attention": (attention, [(2, 3, 5), (5, 8), (5, 4), (5, 4), (8, 5)], {0}, {"heads": 4}),
    "parallel_conv2d": (convolutions, [(2, 3, 4, 4), (5, 3, 3, 3), (5,), (2, 5, 3, 3), (2,)], {0, 4}, {}),
    "sequence_parallel": (normed, [(2, 12, 5), (5,), (5,), (5, 7), (7,), (7, 5), (5,)], {1, 2, 6}, {}),
}


def parallel(name: str) -> tuple[Tensor, list[Tensor]]:
    _, shapes, _, options = CASES[name]
    arguments = drawn(*shapes)
    if name == "sequence_parallel":
        positions = own(12, None)
        arguments[0] = arguments[0].detach()[:, positions].requires_grad_()
    out = getattr(functional, name)(*arguments, **options)
    (out * weights(name)[:, own(12, None)] if name == "sequence_parallel" else out * weights(name)).sum().backward()
    return out.detach(), [a.grad for a in arguments]


def weights(name: str) -> Tensor:
    """The output's gradient, the same on one rank and on many."""
    shape = list(CASES[name][1][0])
    if name == "parallel_conv2d":
        shape[1] = 2
    return torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=F64)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ranks", [1, 4])
def test_values_and_gradients_are_those_of_one_rank(name: str, ranks: int) -> None:
    serial, shapes, whole, options = CASES[name]
    arguments = drawn(*shapes)
    wanted = serial(*arguments, **options)
    (wanted * weights(name)).sum().backward()
    values = run(parallel, name, ranks=ranks, on="dgx-a100").values
    outputs = [out for out, _ in values]
    if name == "sequence_parallel":
        torch.testing.assert_close(torch.cat(outputs, 1), wanted.detach())
        torch.testing.assert_close(torch.cat([found[0] for _, found in values], 1), arguments[0].grad)
    else:
        assert all(torch.allclose(out, wanted) for out in outputs)
    for i, argument in enumerate(arguments):
        found = [gradients[i] for _, gradients in values]
        if i in whole:
            assert all(torch.allclose(gradient, argument.grad) for gradient in found)
        elif name != "sequence_parallel" or i:
            torch.testing.assert_close(sum(found), argument.grad)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["parallel_mlp", "parallel_attention", "parallel_conv2d"])
def test_one_all_reduce_forward_and_one_backward(name: str) -> None:
    result = run(parallel, name, ranks=2, on="dgx-a100")
    x = torch.Size(CASES[name][1][0]).numel()
    assert result.trace.counts()[0, "all_reduce"] == Count(2, 8 * (x + weights(name).numel()))


def of_columns() -> tuple[bool, bool]:
    z, targets = drawn((5, 11))[0].detach() * 1e4, torch.tensor([0, 1, 0, 2, 1])
    whole, mine = z.clone().requires_grad_(), z[:, own(11, None)].clone().requires_grad_()
    loss = cross_entropy_of_columns(mine, targets, own(11, None).start)
    wanted = F.cross_entropy(whole, targets)
    (3 * loss).backward()
    (3 * wanted).backward()
    return torch.allclose(loss, wanted), torch.allclose(mine.grad, whole.grad[:, own(11, None)])


def test_the_loss_of_columns() -> None:
    assert run(of_columns, ranks=3, on="dgx-a100").values == [(True, True)] * 3


def both_regions() -> tuple[float, float]:
    f, g = regions()
    x = torch.full((1,), dist.get_rank() + 1.0, requires_grad=True)
    y = g(f(x) * 2)
    y.backward()
    return y.item(), x.grad.item()


def test_f_and_g() -> None:
    assert run(both_regions, ranks=3, on="dgx-a100").values == [(12, 6)] * 3


def mended(name: str) -> tuple[Tensor, list[Tensor]]:
    B, b, weight = (p.detach().requires_grad_() for p in drawn((6, 4), (4,), (4,)))
    x, K, r = torch.ones(2, 6, 4, dtype=F64), dist.get_world_size(), dist.get_rank()
    if "bias" in name:
        arguments = [B, b]
        out = getattr(functional, name)(x[..., 0].chunk(K, 1)[r], *arguments)
    else:
        arguments = [weight, b]
        out = getattr(functional, name)(x.cumsum(1).cumsum(2).square().chunk(K, 1)[r].contiguous(), *arguments)
    out.square().sum().backward()
    return out.detach(), [a.grad for a in arguments]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "repaired"), [("bias_added_k_times", "bias_added_once"), ("unsynced_layernorm", "synced_layernorm")]
)
def test_what_is_to_be_mended_is_right_on_one_rank_only(broken: str, repaired: str) -> None:
    for K in (1, 2):
        found, wanted = (run(mended, name, ranks=K, on="dgx-a100").values for name in (broken, repaired))
        same = [
            torch.allclose(a, b)
            for (_, xs), (_, ys) in zip(found, wanted, strict=True)
            for a, b in zip(xs, ys, strict=True)
        ]
        assert all(same) == (K == 1)
