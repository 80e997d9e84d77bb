"""Attention whose sequence is cut: who computes how much, and which of a ring and Ulysses is faster.

    ring       each rank keeps its queries; keys and values go round in K - 1 rounds, beside compute
    Ulysses    an all-to-all before attention and one after it, which nothing hides

Both on the virtual cluster, causal, forward only, in zig-zag order, with one kernel for a block of queries and keys;
bytes are those of the trace, beside ``cost``. The sweep takes a minute, so its rows are recorded:

    python -m lockstep.experiments.hybrid.context > pkg/lockstep/experiments/hybrid/data/ring_and_ulysses.csv
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.context_parallel.layout import Layout
from lockstep.context_parallel.online_softmax import merge
from lockstep.context_parallel.ring_attention import blocks, passing, ring_attention
from lockstep.context_parallel.ulysses import ulysses_attention
from lockstep.cost import context_parallel as cost
from lockstep.experiments.hybrid.placed import bytes_sent
from lockstep.machines import find
from lockstep.tables import Table, published
from lockstep.tally import counted
from lockstep.worlds import run

Line = Callable[[int, int], Sequence[int]]

WIDTH, BATCH, BYTES, K = 128, 1, 2, 4
INSIDE = find("dgx-a100")
LINKS = {"NVLink": INSIDE, "network": replace(INSIDE, name="nodes of one A100", ranks_per_node=1)}
LENGTHS = 4096, 65536
WAYS: dict[str, Callable[..., Tensor]] = {"ring": ring_attention, "ulysses": ulysses_attention}


class Heads(NamedTuple):
    """Heads of queries, and of keys and values."""

    queries: int
    keys: int


HEADS = Heads(64, 64), Heads(64, 8)


# ---- how much each rank computes


def pairs_of(chunks: Sequence[int], T: int, K: int) -> int:
    """Pairs of a query and a key of a rank with these of the 2K chunks of T positions."""
    each = T // (2 * K)
    return sum(position + 1 for chunk in chunks for position in range(chunk * each, (chunk + 1) * each))


def stretch(r: int, K: int) -> list[int]:
    """One stretch of the sequence: two chunks that follow each other."""
    return [2 * r, 2 * r + 1]


def unevenness(line: Line = stretch, T: int = 4096, K: int = 8) -> float:
    """The pairs of the busiest rank, by those of the idlest."""
    pairs = [pairs_of(line(r, K), T, K) for r in range(K)]
    return max(pairs) / min(pairs)


def pairs_table(line: Line, T: int = 4096, K: int = 8) -> Table:
    head = ["rank", "one stretch", "its pairs", "by your line", "its pairs"]
    rows = []
    for r in range(K):
        cells = [(chunks, pairs_of(chunks, T, K)) for chunks in (stretch(r, K), list(line(r, K)))]
        rows.append([str(r), *(cell for chunks, n in cells for cell in (", ".join(map(str, chunks)), f"{n:,}"))])
    return Table(f"{T:,} positions on {K} ranks, in {2 * K} chunks: which chunks, and how many pairs?", head, rows)


# ---- a ring and Ulysses


def attention(way: str, T: int, heads: Heads) -> None:
    """Runs on each rank, without data: each block of queries and keys is one kernel, as FlashAttention's."""
    r, K = dist.get_rank(), dist.get_world_size()
    layout = Layout(T, K)
    q, k, v = (
        torch.empty(BATCH, n, layout.length(r), WIDTH, dtype=torch.bfloat16)
        for n in (heads.queries, heads.keys, heads.keys)
    )
    if way == "ring":
        ring_of_kernels(q, k, v, layout)
    else:
        ulysses_attention(q, k, v, layout, core=partial(in_stretches, number=2 * K))


def ring_of_kernels(q: Tensor, k: Tensor, v: Tensor, layout: Layout) -> Tensor:
    """``ring_attention`` with a kernel for each block; what it gives besides its result is made up."""
    out, L = torch.zeros_like(q), q.new_zeros(*q.shape[:-1], 1)
    for owner, (keys, values) in passing(torch.stack([k, v]), layout, None):
        for rows, columns, _ in blocks(layout.chunks(dist.get_rank()), layout.chunks(owner), causal=True):
            one = F.scaled_dot_product_attention(
                q[..., rows, :], keys[..., columns, :], values[..., columns, :], enable_gqa=True
            )
            merged = merge(out[..., rows, :], L[..., rows, :], one, one.new_zeros(*one.shape[:-1], 1))
            out[..., rows, :], L[..., rows, :] = merged
    return out


def in_stretches(q: Tensor, k: Tensor, v: Tensor, number: int) -> Tensor:
    """Causal attention on one rank, for a stretch of queries at a time: no kernel computes much that is masked."""
    each = q.shape[-2] // number
    found = [
        F.scaled_dot_product_attention(
            q[..., n * each : (n + 1) * each, :], k[..., : (n + 1) * each, :], v[..., : (n + 1) * each, :],
            enable_gqa=True,
        )
        for n in range(number)
    ]  # fmt: skip
    return torch.cat(found, dim=-2)


class Row(NamedTuple):
    """One way on one network: seconds, and bytes that rank 0 sends."""

    way: str
    link: str
    positions: int
    heads: Heads
    seconds: float
    sent: float

    @property
    def by_formula(self) -> float:
        return BYTES * cost.sent(self.way, BATCH, self.positions, *self.heads, WIDTH, K)


def ran(way: str, link: str, positions: int, heads: Heads) -> Row:
    result = run(attention, way, positions, heads, ranks=K, on=LINKS[link], fake=True)
    sent = sum(bytes_sent(e) for e in result.trace.of_rank(0) if e.kind != "compute")
    return Row(way, link, positions, heads, result.time, sent)


def sweep() -> list[Row]:
    every = [(way, *case) for case in product(LINKS, LENGTHS, HEADS) for way in WAYS]
    return [ran(*one) for one in counted(every, "Simulating", each=2.0)]


def written(rows: Iterable[Row]) -> str:
    lines = [
        "# Attention of one layer, forward, causal, on 4 ranks of the virtual cluster's A100 (context.py).",
        "# provenance: simulated",
        "way,link,positions,heads,kv_heads,seconds,sent",
    ]
    lines += [
        f"{r.way},{r.link},{r.positions},{r.heads.queries},{r.heads.keys},{r.seconds:.6g},{r.sent:.0f}" for r in rows
    ]
    return "\n".join(lines) + "\n"


def recorded() -> list[Row]:
    return [
        Row(r["way"], r["link"], int(r["positions"]), Heads(int(r["heads"]), int(r["kv_heads"])), float(r["seconds"]),
            float(r["sent"]))
        for r in published("experiments/hybrid", "ring_and_ulysses.csv")
    ]  # fmt: skip


def ring_or_ulysses_table(full: bool = False) -> Table:
    """Recorded rows; ``full`` runs them anew. The caption says how far the bytes are from the formula's, at most."""
    head = ["link", "positions", "heads", "ring", "Ulysses", "ring sends", "Ulysses sends"]
    rows, found = [], sweep() if full else recorded()
    for ring, other in zip(found[::2], found[1::2], strict=True):
        rows.append([
            ring.link, f"{ring.positions:,}", f"{ring.heads.queries}, {ring.heads.keys}",
            milliseconds(ring.seconds), milliseconds(other.seconds),
            megabytes(ring.sent), megabytes(other.sent),
        ])  # fmt: skip
    off = max(abs(one.sent / one.by_formula - 1) for one in found)
    told = f"Attention of one layer, forward, on {K} simulated A100: heads of queries, and of keys and values"
    return Table(f"{told}. No bytes are more than {100 * off:.1f} % off the formula.", head, rows)


def milliseconds(t: float) -> str:
    return f"{t * 1e3:.3g} ms"


def megabytes(n: float) -> str:
    return f"{n / 1e6:,.1f} MB"


# ---- the same numbers as on one rank


def gradients(way: str, T: int, heads: Heads) -> list[Tensor]:
    """Runs on each rank: its rows of the output, and of the gradients of q, k and v."""
    r, K = dist.get_rank(), dist.get_world_size()
    layout = Layout(T, K)
    mine = [layout.part(x, r).clone().requires_grad_() for x in inputs(T, heads)]
    out = WAYS[way](*mine, layout)
    (out * layout.part(weights(T, heads), r)).sum().backward()  # type: ignore[no-untyped-call]
    return [out.detach(), *(x.grad for x in mine if x.grad is not None)]


def inputs(T: int, heads: Heads, d: int = 4) -> list[Tensor]:
    drawn = torch.Generator().manual_seed(0)
    return [
        torch.randn(BATCH, n, T, d, dtype=torch.float64, generator=drawn)
        for n in (heads.queries, heads.keys, heads.keys)
    ]


def weights(T: int, heads: Heads, d: int = 4) -> Tensor:
    drawn = torch.Generator().manual_seed(1)
    return torch.randn(BATCH, heads.queries, T, d, dtype=torch.float64, generator=drawn)


def apart(way: str, T: int, K: int, heads: Heads, on: str = "dgx-a100") -> float:
    """The largest difference of output and gradients to those of one rank."""
    values, layout = run(gradients, way, T, heads, ranks=K, on=on).values, Layout(T, K)
    q, k, v = (x.requires_grad_() for x in inputs(T, heads))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    (out * weights(T, heads)).sum().backward()  # type: ignore[no-untyped-call]
    wanted = [out.detach(), *(x.grad for x in (q, k, v) if x.grad is not None)]
    parts = [layout.part(b, r) for r in range(K) for b in wanted]
    return max(float((a - b).abs().max()) for a, b in zip((x for value in values for x in value), parts, strict=True))


CASES = (("ring", 13, 4, Heads(4, 2)), ("ring", 37, 3, Heads(6, 3)), ("ulysses", 13, 2, Heads(4, 2)))


def context_equality_table(on: str = "dgx-a100") -> Table:
    rows = [
        [way, str(K), str(T), f"{heads.queries}, {heads.keys}", f"{apart(way, T, K, heads, on):.0e}"]
        for way, T, K, heads in counted(CASES, "Running", each=0.7)
    ]
    told = "Output and gradients, causal, zig-zag, float64: how far from one rank's?"
    return Table(told, ["way", "ranks", "positions", "heads", "apart"], rows)


if __name__ == "__main__":
    print(written(sweep()), end="")
