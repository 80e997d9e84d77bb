"""Where the FLOPs of a transformer go as it grows, and how many a mixture of experts needs.

    L   layers      s   context, tokens       h   hidden width of an MLP, or of an expert: 4·d
    d   width       V   vocabulary            E   experts, k of them for a token, and S shared ones

Forward pass, per token; a multiply-add is 2 FLOPs, and the backward pass takes twice as many:

    projections   L · 8·d²       queries, keys, values, output: four matrices d x d
    FFN           L · 4·d·h      16·d² with h = 4·d: twice the projections, whatever d is
    attention     L · 4·s·d      scores, and the weighted sum of values; all s positions, as in ``cost.operations``
    logits        2·d·V

So FFN to projections is 2 : 1 at every size. The share of the other two shrinks, since they grow with d, not with d².

With experts in M of the L layers, a token's FFN there is k + S experts and a gate: M·((k + S)·4·d·h + 2·d·E). E appears
in the gate only: parameters grow with E, FLOPs hardly do.

Sources: Kaplan et al., arXiv:2001.08361, table 1; OPT's shapes: Zhang et al., arXiv:2205.01068, table 1 (760M, which is
not in it, has the shape of GPT-3's: Brown et al., arXiv:2005.14165, table 2.1). ``NOTES`` is the lecture notes' table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lockstep.tables import Table

OPT_VOCABULARY, OPT_CONTEXT = 50_272, 2048
OPT = {  # (layers, width)
    "760M": (24, 1536), "1.3B": (24, 2048), "2.7B": (32, 2560), "6.7B": (32, 4096), "13B": (40, 5120),
    "30B": (48, 7168), "66B": (64, 9216), "175B": (96, 12288),
}  # fmt: skip
NOTES: Mapping[str, tuple[float, float, float, float]] = {  # per cent: "MHA", "FFN", "attn", "logit"
    "760M": (35, 44, 14.8, 5.8), "1.3B": (32, 51, 12.7, 5.0), "2.7B": (29, 56, 11.2, 3.3), "6.7B": (24, 65, 8.1, 2.4),
    "13B": (22, 69, 6.9, 1.6), "30B": (20, 74, 5.3, 1.0), "66B": (18, 77, 4.3, 0.6), "175B": (17, 80, 3.3, 0.3),
}  # fmt: skip


class Flops(NamedTuple):
    """FLOPs of a token's forward pass."""

    projections: float
    ffn: float
    attention: float
    logits: float

    @property
    def total(self) -> float:
        return sum(self)

    @property
    def shares(self) -> list[float]:
        """Percentages of the total."""
        return [100 * part / self.total for part in self]


def dense_flops(layers: int, width: int, context: int, vocabulary: int) -> Flops:
    """FLOPs per token of a transformer whose MLPs are four times as wide as the model."""
    d = width
    return Flops(layers * 8 * d**2, layers * 16 * d**2, layers * 4 * context * d, 2 * d * vocabulary)


def opt_flops(size: str) -> Flops:
    """FLOPs per token of an OPT model, at its own context."""
    return dense_flops(*OPT[size], OPT_CONTEXT, OPT_VOCABULARY)


def active_flops(
    layers: int, width: int, context: int, vocabulary: int, experts: int, k: int, with_experts: int,
    shared: int = 0, hidden: int | None = None,
) -> Flops:  # fmt: skip
    """The same with ``experts`` of hidden width ``hidden`` (default 4·d) in ``with_experts`` of the layers, ``k`` for
    each token and ``shared`` ones for all; no token is dropped."""
    dense, d = dense_flops(layers, width, context, vocabulary), width
    a_layer = (k + shared) * 4 * d * (hidden or 4 * d) + 2 * d * experts
    return dense._replace(ffn=(layers - with_experts) * 16 * d**2 + with_experts * a_layer)


def token_flops(
    layers: int, width: int, context: int, vocabulary: int, with_experts: int, experts: int, k: int, shared: int,
    hidden: int,
) -> int:  # fmt: skip
    """The total of ``active_flops``, in the form that the lab asks for."""
    return int(active_flops(layers, width, context, vocabulary, experts, k, with_experts, shared, hidden).total)


def opt_table() -> Table:
    """Our counts for the OPT models, and the notes' table for comparison."""
    rows = []
    for name, (layers, width) in OPT.items():
        counted = dense_flops(layers, width, OPT_CONTEXT, OPT_VOCABULARY)
        ratio = NOTES[name][1] / NOTES[name][0]
        rows.append([name, *(f"{share:.1f}" for share in counted.shares), f"{counted.ffn / counted.projections:g} : 1",
                     " / ".join(f"{share:g}" for share in NOTES[name]), f"{ratio:.1f} : 1"])  # fmt: skip
    shares = ["projections %", "FFN %", "attention %", "logits %"]
    head = ["OPT", *shares, "ratio", "a slide: MHA / FFN / attn / logit", "theirs"]
    return Table("Where the FLOPs of a token go; the ratio is that of FFN to projections", head, rows)


def growth_table(size: str = "1.3B") -> Table:
    """An OPT with experts in every other layer, top-1: parameters, and FLOPs per token."""
    layers, d = OPT[size]
    dense, rows = dense_flops(layers, d, OPT_CONTEXT, OPT_VOCABULARY), []
    for E in (1, 8, 64, 512):
        flops = active_flops(layers, d, OPT_CONTEXT, OPT_VOCABULARY, E, 1, layers // 2) if E > 1 else dense
        parameters = layers * 12 * d**2 + OPT_VOCABULARY * d + (E - 1) * layers // 2 * 8 * d**2
        name, gflop = str(E) if E > 1 else "dense", f"{flops.total / 1e9:.2f}"
        rows.append([name, f"{parameters / 1e9:.3g}", gflop, f"{flops.total / dense.total:.4f}"])
    head = ["experts", "billion parameters, gates left out", "GFLOP of a token", "by the dense model's"]
    return Table(f"OPT-{size}, with experts in every other layer, top-1", head, rows)
