"""The learner's lines of lesson 10: their results next to the library's and to traces."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.cost.tensor_parallel import published_activations
from lockstep.models import linear
from lockstep.tables import Table
from lockstep.tensor_parallel.across_nodes import GPT_3, RANKS, Passed, Size, last_seconds, spent
from lockstep.tensor_parallel.dropout import Dropout, Streams
from lockstep.tensor_parallel.f_and_g import share
from lockstep.tensor_parallel.published import GPT_22B
from lockstep.tensor_parallel.recorded import kept
from lockstep.tensor_parallel.transformer import ParallelMLP
from lockstep.tensor_parallel.vocabulary import vocab_parallel_cross_entropy
from lockstep.worlds import run

OwnPart = Callable[[int, int, int], tuple[int, int]]  # (n, ranks, rank) -> first, and the one after the last
AllReduced = Callable[[int, int, int], float]  # (examples, positions, width) -> numbers
KeptBytes = Callable[[int, bool], float]  # (ranks, in parts of the sequence) -> bytes for each number of the input

# ---- which way to cut


def halves(n: int = 64) -> dict[str, Tensor]:
    """X·A of normal numbers, n x n, and what three sums of halves make of it."""
    drawn = torch.Generator().manual_seed(0)
    X, A = (torch.randn(n, n, generator=drawn, dtype=torch.float64) for _ in range(2))
    (X1, X2), (A1, A2) = X.chunk(2, 1), A.chunk(2)
    return {"X·A": X @ A, "X1·A1 + X1·A2": X1 @ A1 + X1 @ A2, "X1·A1 + X2·A2": X1 @ A1 + X2 @ A2}


def halves_table() -> Table:
    """How far each sum is from X·A, as a part of X·A."""
    found = halves()
    whole = found.pop("X·A")
    rows = [[name, far(total, whole)] for name, total in found.items()]
    return Table("Two halves of a product, 64 x 64, normal numbers", ["", "apart from X·A"], rows)


def gelu_table() -> Table:
    """The nonlinearity before the sum, and after it."""
    drawn = torch.Generator().manual_seed(0)
    X, A = (torch.randn(64, 64, generator=drawn, dtype=torch.float64) for _ in range(2))
    (X1, X2), (A1, A2), (left, right) = X.chunk(2, 1), A.chunk(2), A.chunk(2, 1)
    whole = F.gelu(X @ A)
    ways = {
        "by columns: each rank GeLU of its own": torch.cat([F.gelu(X @ left), F.gelu(X @ right)], 1),
        "by rows: each rank GeLU of its summand, then the sum": F.gelu(X1 @ A1) + F.gelu(X2 @ A2),
        "by rows: the sum, then GeLU": F.gelu(X1 @ A1 + X2 @ A2),
    }
    rows = [[name, far(found, whole)] for name, found in ways.items()]
    return Table("GeLU(X·A) on two ranks", ["", "apart from GeLU(X·A)"], rows)


def far(found: Tensor, whole: Tensor) -> str:
    apart = ((found - whole).norm() / whole.norm()).item()
    return f"{apart:.0%}" if apart > 1e-9 else "rounding"


def parts_table(own_part: OwnPart, n: int = 10, ranks: int = 4) -> Table:
    """Who has which of n columns: by the line, and as the library cuts."""
    rows = []
    for r in range(ranks):
        mine, (first, end) = share(n, ranks, r), own_part(n, ranks, r)
        rows.append([str(r), _stretch(first, end), _stretch(mine.start, mine.stop)])
    return Table(f"{n} columns on {ranks} ranks", ["rank", "by your line", "by the library"], rows)


def _stretch(first: int, end: int) -> str:
    return f"{first} to {end - 1}" if end > first else "none"


# ---- f and g


def mlp_step(h: int, tokens: int) -> tuple[float, float]:
    """On a rank: seconds of an MLP's forward pass, and of its backward pass."""
    model = ParallelMLP(linear(h, 4 * h, 0, 0, torch.bfloat16), linear(4 * h, h, 0, 1, torch.bfloat16))
    x = torch.ones(tokens, h, dtype=torch.bfloat16, requires_grad=True)
    begin = time.perf_counter()
    out = model(x)
    between = time.perf_counter()
    out.backward(torch.ones_like(out))
    return between - begin, time.perf_counter() - between


def an_mlp(ranks: int = 2, h: int = 4096, tokens: int = 2048) -> Passed:
    """A forward and a backward pass of an MLP, as its trace has them."""
    done = run(mlp_step, h, tokens, ranks=ranks, on="dgx-a100", fake=True)
    return last_seconds(done, sum(done.values[0]))


# ---- a block


def block_table(all_reduced: AllReduced) -> Table:
    """Numbers that are all-reduced in a step of a block: by the line, and counted in traces."""
    rows = []
    for size in (Size(1, 512, 1024, 16), Size(4, 512, 1024, 16), GPT_3):
        nbytes = spent(RANKS, size=size).nbytes
        line = all_reduced(size.b, size.T, size.h)
        rows.append([f"{size.b} x {size.T}", f"{size.h:,}", f"{line:,.0f}", f"{nbytes // 2:,}", f"{nbytes / 1e6:,.0f}"])
    head = ["examples x positions", "width", "numbers, by your line", "counted", "MB in bfloat16"]
    return Table(f"What a rank all-reduces for one layer in a step, on {RANKS} ranks", head, rows)


# ---- the vocabulary


def scored(tokens: int, V: int) -> int:
    """On a rank: bytes of the scores that it has. Fake: nothing is computed."""
    K = dist.get_world_size()
    z = torch.zeros(tokens, V // K, requires_grad=True)
    following = torch.zeros(tokens, dtype=torch.long)
    vocab_parallel_cross_entropy(z, following, V).backward()  # type: ignore[no-untyped-call]
    return z.nbytes


def loss_bytes(tokens: int = 2048, V: int = 51_200, ranks: int = 8) -> tuple[int, int]:
    """Bytes of all scores in float32, and bytes that a rank all-reduces for the loss of them, forward and backward."""
    done = run(scored, tokens, V, ranks=ranks, on="dgx-a100", fake=True)
    return sum(done.values), sum(e.nbytes for e in done.trace.of_rank(0) if e.kind == "all_reduce")


# ---- what is kept


def kept_table(line: KeptBytes) -> Table:
    """Korthikanti's layer: by the line, by the paper's formula, and by recorded runs. The line gives bytes for each of
    b·T·h numbers, without the scores of attention."""
    b, T, h, a, _ = GPT_22B
    rows = []
    for one in kept():
        each = line(one.K, one.way == "sequence")
        by_line = b * T * h * (each + 5 * a * T / (h * one.K)) / 1e6
        rows.append(
            [one.way, str(one.K), f"{each:g}", *(f"{found:,.0f}" for found in (by_line, one.formula, one.traced))]
        )
    head = ["", "ranks", "bytes, your line", "MB with the scores", "MB, published formula", "MB, by a run"]
    return Table("What a rank keeps of one layer of the 22-billion model", head, rows)


def without_scores(K: int, sequence: bool) -> float:
    """MB that a rank keeps of the layer where the core of attention is computed again: selective recomputation."""
    return published_activations(*GPT_22B._replace(K=K), sequence=sequence, again="selective") / 1e6


# ---- dropout


def masks(alike: bool) -> tuple[float, Tensor]:
    """On a rank: how far a weight that all ranks have alike is from rank 0's, after five steps with dropout before it;
    and a mask of this rank. ``alike``: from the stream that all ranks share, or from its own."""
    streams = Streams(0)
    stream = streams.everywhere if alike else streams.parts
    drop, weight = Dropout(0.5, stream), nn.Parameter(torch.ones(64))
    sgd = torch.optim.SGD([weight], lr=0.1)
    for _ in range(5):
        sgd.zero_grad()
        (drop(torch.ones(64)) * weight).square().sum().backward()
        sgd.step()
    first = weight.detach().clone()
    dist.broadcast(first, 0)
    return (weight - first).abs().max().item(), drop(torch.ones(64)) > 0


def masks_table(ranks: int = 4) -> Table:
    rows = []
    for name, alike in (("the same on all ranks", True), ("another one on each rank", False)):
        values = run(masks, alike, ranks=ranks, on="dgx-a100").values
        differ = len({tuple(mask.tolist()) for _, mask in values})
        rows.append([name, f"{max(apart for apart, _ in values):.2g}", f"{differ} of {ranks}"])
    head = ["random stream", "an alike weight drifts, in 5 steps", "masks that differ"]
    return Table(f"Dropout on {ranks} ranks", head, rows)
