"""Experts on a grid: a simulated step is the step in full; and that one trains as the mixture on one rank does."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from steps_compared import compare
from test_grid_gradients import WAYS

from lockstep import run
from lockstep.bench.step import mixture, mixtures
from lockstep.errors import UsageError
from lockstep.experiments.hybrid.equality import named, order_of_heads, renumbered
from lockstep.experts.gate import TopKGate
from lockstep.experts.gpt import MixtureBlock
from lockstep.experts.serial import SerialMoE
from lockstep.hybrid.beside_planner import NAMES
from lockstep.hybrid.expert_layer import places, tokens_of
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.hybrid.worker import GridWorker, MicroBatches, groups_of
from lockstep.machines import find
from lockstep.models import GPT, next_token_loss
from lockstep.pipeline.instructions import place
from lockstep.pipeline.schedules import stream

GPUS = find("dgx-a100")
PAIRS, FOURS, THREES = (replace(GPUS, ranks_per_node=n) for n in (2, 4, 3))
TINY = GPTSize(layers=2, hidden=64, heads=2, seq=16, vocab=64, experts=4, top_k=2, expert_ffn=96)
SMALL = GPTSize(layers=4, hidden=256, heads=8, seq=128, vocab=1024, experts=8, top_k=2, expert_ffn=512)
CUBE = Grid(dp=2, tp=2, pp=2, ep=4, sequence_parallel=True)


# ---- a simulated step is the step in full


def test_a_step_of_four_ranks_that_share_experts() -> None:
    played = compare(TINY, Grid(dp=2, tp=2, ep=4, sequence_parallel=True), 1, 2, PAIRS)
    assert sum(played.parts.values()) == pytest.approx(played.time)
    assert played.parts["ep"] > 0
    exchanges = [e for e in played.trace if e.kind == "all_to_all"]
    assert len(exchanges) == 2 * TINY.layers * 2 * 2  # micro-batches, layers, there and back, forward and backward
    rows = TINY.seq // 2 * TINY.top_k  # of a rank's tokens, in 16 bits
    assert {e.nbytes for e in exchanges} == {rows * TINY.hidden * 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "chunks", "micro_batches", "cluster"),
    [
        (CUBE, 2, 4, PAIRS),
        (replace(CUBE, recompute="full"), 1, 4, FOURS),
        (replace(CUBE, recompute="selective", zero=1), 2, 4, PAIRS),
        (replace(CUBE, ep=2, overlap=True), 2, 4, FOURS),
        (replace(CUBE, ep=2, zero=2, recompute="full"), 1, 3, PAIRS),
        (replace(CUBE, ep=1), 1, 3, PAIRS),
        (Grid(dp=8, ep=8), 1, 2, FOURS),
        (Grid(dp=4, tp=2, ep=4, sequence_parallel=True, zero=1, overlap=True), 1, 2, THREES),
        (Grid(dp=2, cp=2, pp=2, ep=2), 1, 4, PAIRS),
        (replace(CUBE, overlap=True, zero=1), 1, 4, PAIRS.with_rank(3, speed=0.5)),
        (replace(CUBE, ep=2), 2, 4, FOURS.with_link(1, 5, bandwidth=1e9)),
    ],
    ids=lambda value: value.name if hasattr(value, "ranks_per_node") else None,
)
def test_a_step_of_eight_ranks_that_share_experts(grid: Grid, chunks: int, micro_batches: int, cluster) -> None:
    compare(SMALL, grid, chunks, micro_batches, cluster)


def test_one_player_a_stage_unless_a_rank_is_different() -> None:
    assert len(set(simulate_step(TINY, CUBE, 1, 2, on=PAIRS).stands_for)) == 2
    assert len(set(simulate_step(TINY, CUBE, 1, 2, on=PAIRS.with_rank(3, speed=0.5)).stands_for)) == 8


# ---- the step in full trains

MODEL = GPTSize(
    layers=4, hidden=16, heads=4, seq=8, vocab=24, dropout=0.0, dtype="float64", experts=4, top_k=2, expert_ffn=24
)
MICRO_BATCHES, STEPS = 4, 2
CUT = {"qkv.weight": 0, "qkv.bias": 0, "out.weight": 1, "token.weight": 0, "scores.weight": 0}
GRIDS = {
    "dp": (Grid(dp=2, ep=2), 1),
    "dp 4, ep 2": (Grid(dp=4, ep=2), 1),
    "tp": (Grid(tp=2, ep=2, sequence_parallel=True), 1),
    "dp, tp, ep 4": (Grid(dp=2, tp=2, ep=4, sequence_parallel=True), 1),
    "dp, tp, pp, v 2": (Grid(dp=2, tp=2, pp=2, ep=2, sequence_parallel=True), 2),
    "cp, pp": (Grid(cp=2, pp=2, ep=2), 1),
    "dp, pp, ep 1": (Grid(dp=2, pp=2), 1),
}
HOW = ("nothing", "all layers recomputed", "ZeRO", "ZeRO 2", "ZeRO 3, overlap", "ZeRO 3, all layers recomputed", "all")


class InParts(MixtureBlock):
    """The block on one rank; each of ``pieces`` ranks' tokens have places of their own at the experts."""

    def __init__(self, model: GPTSize, index: int, pieces: int) -> None:
        gate = TopKGate(model.hidden, model.experts, model.top_k, layer=index, dtype=torch.float64)
        mixture = SerialMoE(gate, model.expert_ffn, index, capacity_factor=model.capacity)
        super().__init__(mixture, model.hidden, model.heads, 0, index, torch.float64)
        self.pieces = pieces

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.out(self._attention(self.before_attention(x)))
        parts = self.before_mlp(x).chunk(self.pieces, dim=1)
        return x + torch.cat([self.mixture(part.flatten(0, 1)).view_as(part) for part in parts], dim=1)


def serial(model: GPTSize, grid: Grid):
    """{name: (weight after STEPS steps, gradient of the last one)} on one rank; experts as (E, ...); and the losses."""
    net = GPT(model.vocab, model.hidden, model.heads, model.layers, model.seq, dtype=torch.float64)
    for index in range(1, model.layers + 1):
        net[index] = InParts(model, index, grid.cp * grid.tp)
    optimizer, losses = torch.optim.Adam(net.parameters(), lr=1e-4), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        losses.append(0.0)
        for replica in range(grid.dp):
            tokens, following = (
                MicroBatches(model, replace(grid, cp=1, ep=1), MICRO_BATCHES, replica, shift) for shift in (0, 1)
            )
            for i in range(MICRO_BATCHES):
                loss = next_token_loss(net(tokens[i]), following[i]) / (MICRO_BATCHES * grid.dp)
                loss.backward()
                losses[-1] += loss.item()
        optimizer.step()
    found: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
    for index in range(1, model.layers + 1):
        mixture, at = net[index].mixture, f"blocks.{index - 1}.mlp"
        found[f"{at}.gate"] = mixture.gate.weight.detach(), mixture.gate.weight.grad
        for name in ("up", "down"):
            of = [getattr(expert, name) for expert in mixture.experts]
            grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in of]
            found[f"{at}.{name}"] = torch.stack([p.detach() for p in of]), torch.stack(grads)
    for name, p in net.named_parameters():
        if "mixture" not in name:
            found[named(name, model.layers)] = p.detach(), p.grad
    return found, losses


def trained(model: GPTSize, grid: Grid, chunks: int):
    """On a rank: its tensor seat, its seat among the experts, its parameters as in ``serial``, and its losses."""
    worker = GridWorker(model, grid, chunks, groups_of(grid))
    schedule = stream("interleaved", worker.stage, grid.pp, MICRO_BATCHES, chunks)
    losses = [worker.train(schedule, MICRO_BATCHES) for _ in range(STEPS)]
    for state in worker.states:
        state.make_whole()
    found, each = {}, model.layers // (grid.pp * chunks)
    for c, chunk in enumerate(worker.chunks):
        first = place(c, worker.stage, worker.stages) * each
        for name, p in chunk.named_parameters():
            found[renumbered(name, first)] = p.detach().clone(), None if p.grad is None else p.grad.clone()
    seat = (worker.tensor + grid.tp * worker.replica) % grid.ep
    return worker.tensor, seat, found, [None if loss is None else loss.item() for loss in losses]


def part_of(whole: torch.Tensor, name: str, model: GPTSize, grid: Grid, tensor: int, seat: int) -> torch.Tensor:
    """What a rank has of a parameter."""
    if name.endswith(("mlp.up", "mlp.down")):
        return whole.chunk(grid.ep)[seat]
    short = ".".join(name.split(".")[-2:])
    if short not in CUT:
        return whole
    if short.startswith("qkv"):
        whole = whole[order_of_heads(model, grid.tp)]
    return whole.chunk(grid.tp, CUT[short])[tensor]


def assert_trains(grid: Grid, chunks: int, model: GPTSize = MODEL) -> None:
    values = run(trained, model, grid, chunks, ranks=grid.ranks, on="dgx-a100", timeout=600).values
    wanted, losses = serial(model, grid)
    assert {name for _, _, found, _ in values for name in found} == wanted.keys()
    whole_gradients = grid.zero == 0
    for tensor, seat, found, _ in values:
        for name, (weight, gradient) in found.items():
            mine = [part_of(x, name, model, grid, tensor, seat) for x in wanted[name]]
            assert (weight - mine[0]).abs().max() < 1e-12, name
            if whole_gradients:
                assert (gradient - mine[1]).abs().max() < 1e-12 * max(1e-3, wanted[name][1].abs().max()), name
    for step in range(STEPS):
        told = sum(value[3][step] for value in values if value[3][step] is not None) / grid.tp
        assert told == pytest.approx(losses[step], rel=1e-12)


def test_two_ranks_that_share_experts_train() -> None:
    assert_trains(Grid(dp=2, ep=2, micro_batch=2), 1)


@pytest.mark.slow
@pytest.mark.parametrize("way", HOW)
@pytest.mark.parametrize("grid", GRIDS)
def test_experts_train_in_every_way_on_every_grid(way: str, grid: str) -> None:
    axes, chunks = GRIDS[grid]
    assert_trains(replace(axes, micro_batch=2, **WAYS[way] | {"sequence_parallel": axes.sequence_parallel}), chunks)


@pytest.mark.slow
@pytest.mark.parametrize("capacity", [0.5, 4.0])
def test_few_places_or_places_for_all(capacity: float) -> None:
    assert_trains(Grid(dp=2, tp=2, ep=4, sequence_parallel=True), 1, replace(MODEL, capacity=capacity))


# ---- places


def test_first_choices_have_places_before_second_ones() -> None:
    experts = torch.tensor([[1, 0], [1, 2], [1, 0], [0, 1]])  # three first choices of expert 1, and it has two places
    slots = places(experts, 3, 2)
    assert slots.tolist() == [[2, 1], [3, 4], [6, 6], [0, 6]]
    assert tokens_of(slots, 6).tolist() == [3, 0, 0, 1, 1, 0]


# ---- what is refused


@pytest.mark.parametrize(
    ("model", "grid", "told"),
    [
        (replace(TINY, experts=0, top_k=0, expert_ffn=0), Grid(dp=2, ep=2), "ep = 2 needs experts"),
        (replace(TINY, experts=6), Grid(dp=4, ep=4), "ep = 4 does not divide experts = 6"),
        (TINY, Grid(tp=2), "each tensor rank has tokens of its own"),
    ],
)
def test_what_experts_cannot_be_divided_by_is_refused(model: GPTSize, grid: Grid, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        simulate_step(model, grid)


def test_experts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="ep = 4 does not divide the 2 ranks of a stage"):
        Grid(dp=2, pp=2, ep=4)
    for wrong in ({"experts": 4}, {"experts": 4, "top_k": 5}, {"top_k": 2}, {"experts": -1, "top_k": 1},
                  {"experts": 4, "top_k": 2, "capacity": 0.0}):  # fmt: skip
        with pytest.raises(UsageError):
            GPTSize(2, 64, 2, **wrong)


# ---- beside the planner


@pytest.mark.slow
def test_a_mixture_s_row_names_the_item_in_which_two_models_differ() -> None:
    step = mixtures("quick")[0]
    told = mixture(step)
    assert step.model.experts == 8
    assert told["simulated [s]"] == pytest.approx(told["planned [s]"], rel=0.25)
    planned, simulated = map(float, str(told["experts' exchange"]).split(" / "))
    assert 0 < planned < 2 * simulated
    assert told["most in"] in NAMES.values()
