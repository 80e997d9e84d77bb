"""Short programs that together call for most of what torch computes with: each layer, forward and backward, and what
is outside of layers. For test_operations.py."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


def trained(layer: nn.Module, *inputs: torch.Tensor) -> Callable[[], None]:
    def program() -> None:
        for x in inputs:
            if x.is_floating_point():
                x.requires_grad_()
        out = layer(*inputs)
        (out[0] if isinstance(out, tuple) else out).sum().backward()

    return program


def used(layer: nn.Module, *inputs: torch.Tensor) -> Callable[[], object]:
    def program() -> object:
        with torch.inference_mode():
            return layer.eval()(*inputs)

    return program


def stepped(optimizer: type[torch.optim.Optimizer], **options: object) -> Callable[[], None]:
    def program() -> None:
        parameters = [nn.Parameter(torch.randn(8, 8)) for _ in range(3)]
        for p in parameters:
            p.grad = torch.randn(8, 8)
        tuned = optimizer(parameters, **options)
        tuned.step()
        tuned.step()

    return program


def attended(**options: object) -> Callable[[], None]:
    def program() -> None:
        q, k, v = (torch.randn(2, 4, 8, 16, requires_grad=True) for _ in range(3))
        F.scaled_dot_product_attention(q, k, v, **options).sum().backward()

    return program


def image(dims: int) -> torch.Tensor:
    return torch.randn(2, 4, *[6] * dims)


def layers() -> dict[str, Callable[[], object]]:
    sequence, words, width = torch.randn(2, 5, 8), torch.randint(0, 10, (2, 5)), 8
    found: dict[str, Callable[[], object]] = {
        "Linear": trained(nn.Linear(8, 4), sequence),
        "Linear, used": used(nn.Linear(8, 4), sequence),
        "Bilinear": trained(nn.Bilinear(8, 8, 4), sequence, torch.randn(2, 5, 8)),
        "Embedding": trained(nn.Embedding(10, 8), words),
        "EmbeddingBag": trained(nn.EmbeddingBag(10, 8), words),
        "MultiheadAttention": trained(nn.MultiheadAttention(width, 2, batch_first=True), sequence, sequence, sequence),
        "MultiheadAttention, used": used(nn.MultiheadAttention(width, 2, batch_first=True), *[sequence.detach()] * 3),
        "TransformerEncoderLayer": trained(nn.TransformerEncoderLayer(width, 2, 16, batch_first=True), sequence),
        "TransformerEncoderLayer, used": used(nn.TransformerEncoderLayer(width, 2, 16, batch_first=True), sequence),
        "TransformerDecoderLayer": trained(nn.TransformerDecoderLayer(width, 2, 16, batch_first=True), *[sequence] * 2),
    }
    for name in ("LSTM", "GRU", "RNN"):
        found[name] = trained(getattr(nn, name)(8, 4, 2, batch_first=True, bidirectional=True), sequence)
        found[f"{name}Cell"] = trained(getattr(nn, f"{name}Cell")(8, 4), torch.randn(3, 8))
    for d in (1, 2, 3):
        for name in (f"Conv{d}d", f"ConvTranspose{d}d"):
            found[name] = trained(getattr(nn, name)(4, 8, 3, padding=1, groups=2), image(d))
        for name in (f"MaxPool{d}d", f"AvgPool{d}d", f"LPPool{d}d"):
            found[name] = trained(getattr(nn, name)(2, 2), image(d))
        found[f"AdaptiveAvgPool{d}d"] = trained(getattr(nn, f"AdaptiveAvgPool{d}d")(2), image(d))
        found[f"BatchNorm{d}d"] = trained(getattr(nn, f"BatchNorm{d}d")(4), image(d))
        found[f"InstanceNorm{d}d"] = trained(getattr(nn, f"InstanceNorm{d}d")(4), image(d))
    for layer in (nn.LayerNorm(6), nn.RMSNorm(6), nn.GroupNorm(2, 4), nn.LocalResponseNorm(2), nn.Dropout(), nn.ReLU()):
        found[type(layer).__name__] = trained(layer, image(2))
    for layer in (nn.GELU(), nn.SiLU(), nn.Softmax(-1), nn.LogSoftmax(-1), nn.Tanh(), nn.Sigmoid(), nn.ELU(), nn.GLU()):
        found[type(layer).__name__] = trained(layer, image(2))
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        found[f"interpolate {mode}"] = lambda mode=mode: (
            F.interpolate(image(2).requires_grad_(), (9, 9), mode=mode).sum().backward()
        )
    return found


def losses() -> dict[str, Callable[[], object]]:
    scores, right = torch.randn(4, 5), torch.randint(0, 5, (4,))
    return {
        "CrossEntropyLoss": lambda: nn.CrossEntropyLoss()(scores.requires_grad_(), right).backward(),
        "MSELoss": lambda: nn.MSELoss()(scores.requires_grad_(), torch.randn(4, 5)).backward(),
        "SmoothL1Loss": lambda: nn.SmoothL1Loss()(scores.requires_grad_(), torch.randn(4, 5)).backward(),
        "KLDivLoss": lambda: nn.KLDivLoss(reduction="sum")(scores.requires_grad_(), torch.rand(4, 5)).backward(),
        "BCEWithLogitsLoss": lambda: nn.BCEWithLogitsLoss()(scores.requires_grad_(), torch.rand(4, 5)).backward(),
        "CTCLoss": lambda: nn.CTCLoss()(
            torch.randn(6, 2, 5).log_softmax(2).requires_grad_(), torch.ones(2, 3, dtype=torch.long),
            torch.tensor([6, 6]), torch.tensor([3, 3]),
        ).backward(),
    }  # fmt: skip


def attention() -> dict[str, Callable[[], object]]:
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    return {
        "attention": attended(),
        "attention, causal": attended(is_causal=True),
        "attention, masked": attended(attn_mask=mask),
        "attention, dropout": attended(dropout_p=0.5),
    }


def products() -> dict[str, Callable[[], object]]:
    a, b, v, c = torch.randn(6, 6), torch.randn(3, 6, 6), torch.randn(6), torch.randn(6, 6, dtype=torch.complex64)
    whole = torch.randint(-5, 5, (32, 32), dtype=torch.int8)
    low = torch.randn(4, 16, 16, dtype=torch.bfloat16)
    ends = torch.tensor([4, 8, 12, 16], dtype=torch.int32)
    return {
        "mm": lambda: a @ a,
        "complex mm": lambda: c @ c,
        "bmm": lambda: b @ b,
        "mv": lambda: a @ v,
        "dot": lambda: v @ v,
        "vdot": lambda: torch.vdot(c[0], c[1]),
        "addmm": lambda: torch.addmm(a, a, a),
        "addmv": lambda: torch.addmv(v, a, v),
        "addr": lambda: torch.addr(a, v, v),
        "ger": lambda: torch.ger(v, v),
        "baddbmm": lambda: torch.baddbmm(b, b, b),
        "addbmm": lambda: torch.addbmm(a, b, b),
        "einsum": lambda: torch.einsum("bij,bjk,k->bi", b, b, v),
        "tensordot": lambda: torch.tensordot(b, b, dims=([2], [1])),
        "kron": lambda: torch.kron(a, a),
        "chain": lambda: torch.linalg.multi_dot([a, a, a]),
        "_int_mm": lambda: torch._int_mm(whole, whole),
        "_grouped_mm": lambda: torch._grouped_mm(low[0].contiguous(), low, offs=ends),
        "_scaled_mm": lambda: torch._scaled_mm(
            low[0].to(torch.float8_e4m3fn), low[1].to(torch.float8_e4m3fn).t().contiguous().t(),
            scale_a=torch.tensor(1.0), scale_b=torch.tensor(1.0), out_dtype=torch.bfloat16,
        ),
        "cdist": lambda: torch.cdist(b.requires_grad_(), a, p=1.0).sum().backward(),
        "pdist": lambda: F.pdist(torch.randn(5, 3)),
        "fft": lambda: torch.fft.ifft(torch.fft.fft(c)),
        "rfft2": lambda: torch.fft.irfft2(torch.fft.rfft2(a)),
        "stft": lambda: torch.stft(torch.randn(64), 16, return_complex=True, window=torch.ones(16)),
    }  # fmt: skip


def linear_algebra() -> dict[str, Callable[[], object]]:
    a = torch.randn(6, 6) + 6 * torch.eye(6)
    positive, tall = a @ a.T, torch.randn(8, 6)
    lu, pivots = torch.linalg.lu_factor(a)
    ld, ld_pivots, _ = torch.linalg.ldl_factor_ex(positive)
    reflectors, tau = torch.geqrf(tall)
    linalg = torch.linalg
    return {
        "cholesky": lambda: linalg.cholesky(positive),
        "cholesky_solve": lambda: torch.cholesky_solve(tall[:6], linalg.cholesky(positive)),
        "cholesky_inverse": lambda: torch.cholesky_inverse(linalg.cholesky(positive)),
        "qr": lambda: (linalg.qr(tall), linalg.qr(tall, mode="complete"), linalg.qr(tall, mode="r")),
        "geqrf": lambda: (torch.geqrf(tall), torch.ormqr(reflectors, tau, tall), linalg.householder_product(tall, tau)),
        "svd": lambda: (linalg.svd(tall), linalg.svdvals(tall), linalg.pinv(tall), linalg.matrix_rank(tall)),
        "eigh": lambda: (linalg.eigh(positive), linalg.eigvalsh(positive)),
        "eig": lambda: (linalg.eig(a), linalg.eigvals(a)),
        "lu": lambda: (linalg.lu(a), linalg.lu_factor(a), linalg.lu_solve(lu, pivots, tall[:6])),
        "ldl": lambda: (linalg.ldl_factor(positive), linalg.ldl_solve(ld, ld_pivots, tall[:6])),
        "solve": lambda: (linalg.solve(a, tall[:6]), linalg.inv(a), linalg.det(a), linalg.slogdet(a)),
        "triangular": lambda: linalg.solve_triangular(a.triu(), tall[:6], upper=True),
        "triangular_solve": lambda: torch.triangular_solve(tall[:6], a.triu()),
        "lstsq": lambda: linalg.lstsq(tall, tall),
        "matrix_exp": lambda: linalg.matrix_exp(a),
        "matrix_power": lambda: linalg.matrix_power(a, 5),
        "norms": lambda: (linalg.norm(a), linalg.cond(a), linalg.vector_norm(a), linalg.cross(a[:3].T, a[3:].T)),
        "backward": lambda: linalg.solve(a.clone().requires_grad_(), tall[:6]).sum().backward(),
    }


def optimizers() -> dict[str, Callable[[], object]]:
    optim = torch.optim
    found: dict[str, Callable[[], object]] = {
        "SGD": stepped(optim.SGD, lr=0.1, momentum=0.9),
        "Adagrad, fused": stepped(optim.Adagrad, fused=True),
        "SGD, fused": stepped(optim.SGD, lr=0.1, momentum=0.9, fused=True),
    }
    for kind in (optim.Adam, optim.AdamW, optim.RMSprop, optim.Adadelta, optim.NAdam, optim.Adamax):
        found[kind.__name__] = stepped(kind)
        found[f"{kind.__name__}, foreach"] = stepped(kind, foreach=True)
    for kind in (optim.Adam, optim.AdamW):
        found[f"{kind.__name__}, fused"] = stepped(kind, fused=True)
    found["clipping"] = lambda: nn.utils.clip_grad_norm_(with_gradients(), 1.0)
    return found


def with_gradients() -> list[nn.Parameter]:
    parameters = [nn.Parameter(torch.randn(8, 8)) for _ in range(3)]
    for p in parameters:
        p.grad = torch.randn(8, 8)
    return parameters


def movements() -> dict[str, Callable[[], object]]:
    x, at = torch.randn(6, 6), torch.randint(0, 6, (6, 6))
    return {
        "sorting": lambda: (x.sort(), x.topk(2), x.argsort(), x.kthvalue(2), x.median(), x.mode(), torch.unique(at)),
        "scatter": lambda: (x.scatter(0, at, x), x.scatter_add(0, at, x), x.scatter_reduce(0, at, x, "amax")),
        "index": lambda: (x[at], x.gather(0, at), x.index_select(0, at[0]), x.index_add(0, at[0], x), x.take(at)),
        "put": lambda: (x.clone().index_put_((at[0],), x), x.masked_fill(x > 0, 0.0), x[x > 0], x.nonzero()),
        "joined": lambda: (torch.cat([x, x]), torch.stack([x, x]), x.repeat(2, 2), x.roll(1), x.flip(0), x.tril()),
        "sums": lambda: (x.sum(), x.mean(0), x.var(0), x.cumsum(0), x.prod(), x.amax(0), x.logsumexp(0), x.norm()),
        "pointwise": lambda: (
            x + x,
            x * x,
            x / x,
            x.exp(),
            x.sin(),
            x**2,
            x > 0,
            torch.where(x > 0, x, -x),
            x.clamp(0),
        ),
        "made": lambda: (torch.zeros(6), torch.arange(6), torch.eye(6), torch.randperm(6), torch.linspace(0, 1, 6)),
        "drawn": lambda: (torch.rand(6), x.clone().normal_(), x.clone().uniform_(), torch.multinomial(x.abs(), 2)),
        "cast": lambda: (x.to(torch.bfloat16), x.clone(), x.T.contiguous(), x.to("cpu", copy=True), F.pad(x, (1, 1))),
        "counted": lambda: (torch.bincount(at.flatten()), torch.histc(x), torch.searchsorted(x.sort().values, x)),
        "grid": lambda: F.grid_sample(image(2), torch.randn(2, 3, 3, 2), align_corners=False),
        "folded": lambda: F.fold(F.unfold(image(2), 3), (6, 6), 3),
    }


PROGRAMS: dict[str, Callable[[], object]] = {
    **layers(), **losses(), **attention(), **products(), **linear_algebra(), **optimizers(), **movements(),
}  # fmt: skip
