"""The program whose step is simulated trains: its gradients, and its weights after two steps, are those of one rank.

Each grid trains a GPT of four layers in float64, without dropout, on ranks of the virtual cluster; one rank trains the
whole model on the same micro-batches. Every parameter is compared: a cut one is put together again from its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.worker import GridWorker, MicroBatches, groups_of
from lockstep.models import GPT, next_token_loss
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import run

MODEL = GPTSize(layers=4, hidden=16, heads=4, seq=8, vocab=24, dropout=0.0, dtype="float64")
MICRO_BATCHES, STEPS = 2, 2
CUT = {  # the dimension of a weight that is cut over the tensor group
    "qkv.weight": 0, "qkv.bias": 0, "out.weight": 1, "up.weight": 0, "up.bias": 0, "down.weight": 1,
    "token.weight": 0, "scores.weight": 0,
}  # fmt: skip
SHOWN = {  # name -> grid, chunks
    "tp 2 · pp 2 · dp 2": (Grid(dp=2, tp=2, pp=2, micro_batch=2), 1),
    "tp 2 · cp 2 · pp 2": (Grid(tp=2, cp=2, pp=2, micro_batch=2), 1),
}
FURTHER = {
    "interleaved, ZeRO 1": (Grid(dp=2, tp=2, pp=2, micro_batch=2, zero=1, sequence_parallel=True), 2),
}

Pair = tuple[Tensor, Tensor | None]  # a weight after the last step, and its gradient in it
OfRank = tuple[int, int, dict[str, Pair], float | None]


# ---- on ranks


def trained(
    model: GPTSize,
    grid: Grid,
    chunks: int,
    schedule: str = "interleaved",
    steps: int = 1,
    micro_batches: int = MICRO_BATCHES,
) -> OfRank:
    """On a rank: its places in the tensor group and among the replicas, its parameters, and its loss."""
    worker = GridWorker(model, grid, chunks, groups_of(grid))
    for _ in range(steps):
        loss = worker.train(stream(schedule, worker.stage, grid.pp, micro_batches, chunks), micro_batches)
    for state in worker.states:  # ZeRO's stage 3 keeps shards only
        state.make_whole()
    found, each = dict[str, Pair](), model.layers // (grid.pp * chunks)
    for c, chunk in enumerate(worker.chunks):
        first = place(c, worker.stage, worker.stages) * each
        for name, p in chunk.named_parameters():
            found[renumbered(name, first)] = p.detach().clone(), None if p.grad is None else p.grad.clone()
    return worker.tensor, worker.replica, found, None if loss is None else loss.item()


def renumbered(name: str, first: int) -> str:
    parts = name.split(".")
    return ".".join(["blocks", str(first + int(parts[1])), *parts[2:]] if parts[0] == "blocks" else parts)


# ---- put together


def whole(values: Sequence[OfRank], model: GPTSize, grid: Grid) -> dict[str, tuple[Tensor | None, Tensor | None]]:
    """The parameters of the model from those of the first replica's ranks."""
    parts = dict[str, dict[int, Pair]]()
    for tensor, replica, found, _ in values:
        for name, pair in found.items():
            if replica == 0:
                parts.setdefault(name, {})[tensor] = pair
    return {
        name: (joined(name, of, 0, model, grid.tp), joined(name, of, 1, model, grid.tp)) for name, of in parts.items()
    }


def joined(name: str, of: Mapping[int, Pair], k: int, model: GPTSize, tp: int) -> Tensor | None:
    """The whole weight (``k`` 0) or gradient (1). Raises AssertionError where copies differ."""
    short = ".".join(name.split(".")[-2:])
    pieces = [piece for r in range(tp) if (piece := of[r][k]) is not None]
    if not pieces:  # ZeRO's stage 2 keeps shards only
        return None
    if short not in CUT:
        assert all(torch.allclose(piece, pieces[0], rtol=1e-9, atol=1e-14) for piece in pieces), name
        return pieces[0]
    found = torch.cat(pieces, CUT[short])
    if short.startswith("qkv"):
        found[order_of_heads(model, tp)] = found.clone()
    return found


def order_of_heads(model: GPTSize, tp: int) -> Tensor:
    """The serial layer's index of each output of queries, keys and values, one rank's after the other's."""
    d, each = model.hidden // model.heads, model.heads // tp
    starts = [(kind * model.heads + r * each) * d for r in range(tp) for kind in range(3)]
    return torch.cat([torch.arange(start, start + each * d) for start in starts])


# ---- on one


def serial(
    model: GPTSize, grid: Grid, steps: int = 1, micro_batches: int = MICRO_BATCHES
) -> tuple[dict[str, tuple[Tensor, Tensor]], float]:
    """The same of the whole model on one rank, with all micro-batches of all replicas; and the last step's loss."""
    net = GPT(model.vocab, model.hidden, model.heads, model.layers, model.seq, dtype=torch.float64)
    optimizer, total = torch.optim.Adam(net.parameters(), lr=1e-4), 0.0
    for _ in range(steps):
        optimizer.zero_grad()
        total = 0.0
        for replica in range(grid.dp):
            tokens, following = (
                MicroBatches(model, replace(grid, cp=1), micro_batches, replica, shift) for shift in (0, 1)
            )
            for i in range(micro_batches):
                loss = next_token_loss(net(tokens[i]), following[i]) / (micro_batches * grid.dp)
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.item()
        optimizer.step()
    found = dict[str, tuple[Tensor, Tensor]]()
    for name, p in net.named_parameters():
        assert p.grad is not None
        found[named(name, model.layers)] = p.detach(), p.grad
    return found, total


def named(name: str, layers: int) -> str:
    """A parameter of ``GPT``, as the ranks call it."""
    index, rest = name.split(".", 1)
    if index == "0":
        return rest.removesuffix(".weight") if rest.startswith("position") else rest
    if int(index) == layers + 1:
        return rest
    part = {"qkv": "attention.", "out": "attention.", "up": "mlp.", "down": "mlp."}.get(rest.split(".")[0], "")
    return f"blocks.{int(index) - 1}.{part}{rest}"


# ---- compared


class Apart(NamedTuple):
    """The largest differences after two steps: of gradients, relative to the largest number of their tensor, None where
    a rank has the sum of its own shard only; of weights, absolute."""

    ranks: int
    parameters: int
    gradients: float | None
    weights: float


def apart(grid: Grid, chunks: int = 1, on: str = "dgx-a100", schedule: str = "interleaved") -> Apart:
    values = run(trained, MODEL, grid, chunks, schedule, STEPS, ranks=grid.ranks, on=on, timeout=600).values
    found, (wanted, _) = whole(values, MODEL, grid), serial(MODEL, grid, STEPS)
    assert found.keys() == wanted.keys()
    sharded = grid.zero > 0 and grid.replicas > 1
    gradients = None if sharded else max(relative(found[name][1], pair[1]) for name, pair in wanted.items())
    return Apart(grid.ranks, len(wanted), gradients, max(distance(found[n][0], pair[0]) for n, pair in wanted.items()))


def relative(found: Tensor | None, wanted: Tensor) -> float:
    return distance(found, wanted) / wanted.abs().max().item()


def distance(found: Tensor | None, wanted: Tensor) -> float:
    assert found is not None
    return (found - wanted).abs().max().item()


def equality_table(shown: Mapping[str, tuple[Grid, int]] = SHOWN, on: str = "dgx-a100") -> Table:
    head = ["grid", "ranks", "gradients apart", "weights apart"]
    rows = []
    for name, (grid, chunks) in counted(shown.items(), "Training", each=2.0):
        one = apart(grid, chunks, on)
        told = "each has a shard" if one.gradients is None else f"{one.gradients:.0e}"
        rows.append([name, str(one.ranks), told, f"{one.weights:.0e}"])
    return Table("One GPT, two steps of Adam in float64, dropout off: the largest difference", head, rows)
