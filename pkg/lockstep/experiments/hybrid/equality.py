"""The program whose step is simulated trains: its gradients, and its weights after two steps, are those of one rank.

Each grid trains a small GPT in float64, without dropout, on ranks of the virtual cluster or on processes; one rank
trains the whole model on the same micro-batches. Every parameter is compared: a cut one is put together again from its
parts, the experts of a layer from those of the ranks, and a gradient that ZeRO has sharded from its shards.

    tied       the embedding is the scores' matrix: on the first stage and on the last
    uneven     5 layers, 3 heads, 7 positions, 23 words, and a width of 15: nothing is a multiple of 2
    mixture    4 experts in place of each MLP, 2 for a token; on one rank, too, each part of a sequence has places of
               its own at the experts

All of it, in a few minutes:

    python -m lockstep.experiments.hybrid.equality
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.experiments.hybrid.mixture_on_one_rank import MixtureInParts
from lockstep.hybrid.chunk_state import ChunkState
from lockstep.hybrid.grid import GPTSize, Grid, check, layers_of_chunks
from lockstep.hybrid.worker import GridWorker, MicroBatches, groups_of
from lockstep.models import GPT, next_token_loss
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.tensor_parallel.f_and_g import share
from lockstep.worlds import run

MODEL = GPTSize(layers=4, hidden=16, heads=4, seq=8, vocab=24, dropout=0.0, dtype="float64")
MICRO_BATCHES, STEPS = 2, 2
TIED = replace(MODEL, tied=True)
UNEVEN = GPTSize(layers=5, hidden=15, heads=3, seq=7, vocab=23, dropout=0.0, dtype="float64", tied=True)
MIXTURE = replace(MODEL, experts=4, top_k=2, expert_ffn=24)
MODELS = {"even": MODEL, "tied": TIED, "uneven, tied": UNEVEN, "mixture": MIXTURE}
CUT = {  # the dimension of a weight that is cut over the tensor group
    "qkv.weight": 0, "qkv.bias": 0, "out.weight": 1, "up.weight": 0, "up.bias": 0, "down.weight": 1,
    "token.weight": 0, "scores.weight": 0,
}  # fmt: skip
EXPERTS = ("mlp.up", "mlp.down")  # (experts, ...)


class Way(NamedTuple):
    """A grid, chunks of a stage, and the model that it trains: one of MODELS."""

    grid: Grid
    chunks: int = 1
    model: str = "even"


CUBE = Grid(dp=2, tp=2, pp=2, micro_batch=2)
SHOWN = {
    "tp 2 · pp 2 · dp 2": Way(CUBE),
    "tp 2 · cp 2 · pp 2": Way(Grid(tp=2, cp=2, pp=2, micro_batch=2)),
    "pp 2 · dp 4, all sharded over dp (ZeRO 3)": Way(Grid(dp=4, pp=2, zero=3)),
    "tp 2 · pp 2 · dp 2, with experts (ep 4)": Way(replace(CUBE, ep=4, sequence_parallel=True), model="mixture"),
}
FURTHER = {
    "interleaved, ZeRO 1": Way(replace(CUBE, zero=1, sequence_parallel=True), 2),
    "tied, and nothing divides": Way(CUBE, model="uneven, tied"),
}
PIPELINE_AND_FSDP = Grid(dp=2, pp=2, micro_batch=2, zero=3)
EVERYWHERE = {
    "tp 2 · pp 2": [Way(Grid(tp=2, pp=2, micro_batch=2), 1, name) for name in ("even", "tied", "uneven, tied")],
    "tp 2 · pp 2 · dp 2": [Way(CUBE, 1, name) for name in ("even", "tied", "uneven, tied")],
    "tp 2 · cp 2 · pp 2": [
        Way(Grid(tp=2, cp=2, pp=2, micro_batch=2), 1, name) for name in ("even", "tied", "uneven, tied")
    ],
    "cp 3 · pp 2": [Way(Grid(cp=3, pp=2), 1, "uneven, tied")],
    "tp 3 · pp 2": [Way(Grid(tp=3, pp=2), 1, "uneven, tied")],
    "pp 4, layout 1 2 1 1": [Way(Grid(pp=4, layout=(1, 2, 1, 1)), 1, "uneven, tied")],
    "tp 2 · pp 2 · dp 2, two chunks": [Way(CUBE, 2, name) for name in ("even", "tied", "uneven, tied")],
    "pp 2 · dp 2, ZeRO 2": [Way(replace(PIPELINE_AND_FSDP, zero=2), 1, name) for name in ("tied", "uneven, tied")],
    "pp 2 · dp 2, ZeRO 3": [Way(PIPELINE_AND_FSDP, 1, name) for name in ("even", "tied", "uneven, tied", "mixture")],
    "pp 2 · dp 3, ZeRO 1": [Way(Grid(dp=3, pp=2, zero=1), 1, "uneven, tied")],
    "tp 2 · pp 2 · dp 2, ep 4": [Way(replace(CUBE, ep=4, sequence_parallel=True), 1, "mixture")],
    "pp 2 · dp 4, ep 2, ZeRO 3": [Way(Grid(dp=4, pp=2, ep=2, zero=3), 1, "mixture")],
}  # fmt: skip

Pair = tuple[Tensor, Tensor]  # a weight after the last step, and its gradient in it
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
    """On a rank: its places in the tensor group and among the replicas, its parameters, and its loss. Of a gradient
    that is sharded the shards are gathered."""
    check(model, grid, chunks, micro_batches, schedule, alike=False)
    worker = GridWorker(model, grid, chunks, groups_of(grid))
    for _ in range(steps):
        loss = worker.train(stream(schedule, worker.stage, grid.pp, micro_batches, chunks), micro_batches)
    gradients = dict[int, Tensor]()
    for state in worker.states:  # ZeRO's stage 3 keeps shards only
        state.make_whole()
        gradients |= whole_gradients(state)
    found, each = dict[str, Pair](), layers_of_chunks(model, grid, grid.pp * chunks)
    for c, chunk in enumerate(worker.chunks):
        first = sum(each[: place(c, worker.stage, worker.stages)])
        for name, p in chunk.named_parameters():
            found[renumbered(name, first)] = p.detach().clone(), gradients[id(p)].clone()
    return worker.tensor, worker.replica, found, None if loss is None else loss.item()


def whole_gradients(state: ChunkState) -> dict[int, Tensor]:
    """By a parameter's identity, its summed gradient. All ranks of the chunk must call it."""
    found = dict[int, Tensor]()
    for bucket in state.buckets:
        vector = bucket.own_gradients()
        if bucket.sharded:
            vector = vector.new_empty(bucket.K * bucket.n)
            dist.all_gather_into_tensor(vector, bucket.own_gradients().contiguous(), group=bucket.group)
        found |= {id(p): mine for p, mine in zip(bucket.parameters, bucket.views(vector), strict=True)}
    return found


def renumbered(name: str, first: int) -> str:
    parts = name.split(".")
    return ".".join(["blocks", str(first + int(parts[1])), *parts[2:]] if parts[0] == "blocks" else parts)


# ---- put together


def whole(values: Sequence[OfRank], model: GPTSize, grid: Grid) -> dict[str, Pair]:
    """The parameters of the model from those of the first replica's ranks; experts from the ranks that have them."""
    parts = dict[str, dict[int, Pair]]()
    for tensor, replica, found, _ in values:
        for name, pair in found.items():
            if name.endswith(EXPERTS):
                parts.setdefault(name, {})[(tensor + grid.tp * replica) % grid.ep] = pair
            elif replica == 0:
                parts.setdefault(name, {})[tensor] = pair
    return {name: (joined(name, of, 0, model), joined(name, of, 1, model)) for name, of in parts.items()}


def joined(name: str, of: Mapping[int, Pair], k: int, model: GPTSize) -> Tensor:
    """The whole weight (``k`` 0) or gradient (1). Raises AssertionError where copies differ."""
    short = ".".join(name.split(".")[-2:])
    pieces = [of[r][k] for r in sorted(of)]
    if name.endswith(EXPERTS):
        return torch.cat(pieces)
    if short not in CUT:
        assert all(torch.allclose(piece, pieces[0], rtol=1e-9, atol=1e-14) for piece in pieces), name
        return pieces[0]
    found = torch.cat(pieces, CUT[short])
    if short.startswith("qkv"):
        found[order_of_heads(model, len(of))] = found.clone()
    return found


def order_of_heads(model: GPTSize, tp: int) -> Tensor:
    """The serial layer's index of each output of queries, keys and values, one rank's after the other's."""
    d, own = model.hidden // model.heads, [share(model.heads, tp, r) for r in range(tp)]
    stretches = [
        (kind * model.heads + heads.start, kind * model.heads + heads.stop) for heads in own for kind in range(3)
    ]
    return torch.cat([torch.arange(first * d, end * d) for first, end in stretches])


# ---- on one


def serial(
    model: GPTSize, grid: Grid, steps: int = 1, micro_batches: int = MICRO_BATCHES
) -> tuple[dict[str, tuple[Tensor, Tensor]], float]:
    """The same of the whole model on one rank, with all micro-batches of all replicas; and the last step's loss."""
    net = GPT(model.vocab, model.hidden, model.heads, model.layers, model.seq, dtype=torch.float64)
    if model.tied:
        net[-1].scores.weight = net[0].token.weight  # type: ignore[union-attr]
    for index in range(1, model.layers + 1) if model.experts else ():
        net[index] = MixtureInParts(model, index, grid.cp * grid.tp)
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
    for index in range(1, model.layers + 1) if model.experts else ():
        found |= {f"blocks.{index - 1}.mlp.{name}": pair for name, pair in net[index].parameters_of_mixture()}  # type: ignore[operator]
    for name, p in net.named_parameters():
        if "mixture" not in name:
            assert p.grad is not None
            found[named(name, model.layers)] = p.detach(), p.grad
    if model.tied and grid.pp > 1:  # the first and the last stage have the embedding
        found["scores.weight"] = found["token.weight"]
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
    """The largest differences after two steps: of gradients, relative to the largest number of their tensor; of
    weights, absolute."""

    ranks: int
    parameters: int
    gradients: float
    weights: float


def apart(way: Way, on: str = "dgx-a100", schedule: str = "interleaved") -> Apart:
    grid, model = way.grid, MODELS[way.model]
    values = run(trained, model, grid, way.chunks, schedule, STEPS, ranks=grid.ranks, on=on, timeout=600).values
    found, (wanted, _) = whole(values, model, grid), serial(model, grid, STEPS)
    assert found.keys() == wanted.keys()
    gradients = max(distance(found[name][1], pair[1]) / pair[1].abs().max().item() for name, pair in wanted.items())
    weights = max(distance(found[name][0], pair[0]) for name, pair in wanted.items())
    return Apart(grid.ranks, len(wanted), gradients, weights)


def distance(found: Tensor, wanted: Tensor) -> float:
    return (found - wanted).abs().max().item()


def equality_table(shown: Mapping[str, Way] = SHOWN, on: str = "dgx-a100") -> Table:
    head = ["grid", "ranks", "gradients apart", "weights apart"]
    rows = []
    for name, way in counted(shown.items(), "Training", each=2.0):
        one = apart(way, on)
        rows.append([name, str(one.ranks), f"{one.gradients:.0e}", f"{one.weights:.0e}"])
    return Table("One GPT, two steps of Adam in float64, dropout off: the largest difference", head, rows)


def everywhere_table(on: str, most: int = 8) -> Table:
    """Every mesh and model of EVERYWHERE with at most so many ranks."""
    head = ["mesh", "ranks", "model", "parameters", "gradients apart", "weights apart"]
    ways = [(mesh, way) for mesh, some in EVERYWHERE.items() for way in some if way.grid.ranks <= most]
    rows = []
    for mesh, way in counted(ways, f"Training on {on}", each=8.0):
        one = apart(way, on)
        told = f"{one.gradients:.1e}", f"{one.weights:.1e}"
        rows.append([mesh, str(one.ranks), way.model, str(one.parameters), *told])
    return Table(f"Two steps of Adam in float64 on {on}, dropout off, beside one rank", head, rows)


if __name__ == "__main__":
    for world in ("dgx-a100", "processes"):
        print(repr(everywhere_table(world)), end="\n\n", flush=True)
